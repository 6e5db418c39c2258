from __future__ import annotations

from pathlib import Path

import pytest

from pinctl.commands import network
from pinctl.errors import UsageError
from pinctl.options import Options


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds ago"),
        (1, "1 second ago"),
        (59, "59 seconds ago"),
        (60, "1 minute ago"),
        (7300, "2 hours ago"),
        (200_000, "2 days ago"),
    ],
)
def test_how_long_ago(seconds: float, text: str) -> None:
    assert network.ago(seconds) == text


def test_the_profile_of_a_run(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert network.profile(Options(untrusted=False), root).transports == ("https", "ssh")
    assert network.profile(Options(untrusted=False), root, allow=("file",)).transports == ("https", "ssh", "file")
    with pytest.raises(UsageError, match="a stranger's") as error:
        network.profile(Options(untrusted=True), root)
    assert error.value.exit_code == 2
