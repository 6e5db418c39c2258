import socket

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "github.com", "2001:db8::1"])
def test_the_network_is_out_of_reach(host: str) -> None:
    with pytest.raises(AssertionError, match="wants the network"):
        socket.create_connection((host, 9), timeout=1)
    with socket.socket() as raw, pytest.raises(AssertionError, match="wants the network"):
        raw.connect_ex((host, 9))


def test_this_machine_is_in_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), timeout=5):
        pass
