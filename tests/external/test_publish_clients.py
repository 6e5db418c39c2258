from __future__ import annotations

from pathlib import Path

import pytest
from index.support import wheel
from integration.indexes import pypi

from pinctl.external import publish_clients
from pinctl.external.gitcli import TRUSTED
from pinctl.external.wheelfile import identify
from pinctl.publish.clients import Wanted

BOTH = [pytest.param("pip"), pytest.param("uv", marks=pytest.mark.skipif(
    publish_clients.UV not in publish_clients.there(), reason="uv is not installed"))]  # fmt: skip


@pytest.mark.parametrize("client", BOTH)
def test_a_client_says_why_it_does_not_install(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://elsewhere.example/")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://elsewhere.example/")
    one = wheel(tmp_path / "packages", "1.0", "cp310-abi3-manylinux_2_28_aarch64")
    digest = identify(str(one)).sha256
    with pypi(tmp_path / "packages") as simple:
        assert publish_clients.install(client, Wanted(one.name, digest, simple), TRUSTED) is None
        other = publish_clients.install(client, Wanted(one.name, "0" * 64, simple), TRUSTED)
        assert other is not None
        assert other.startswith(f"{client} does not install it: ")
        missing = Wanted(one.name.replace("1.0", "2.0"), digest, simple)
        assert "2.0" in str(publish_clients.install(client, missing, TRUSTED))


def test_what_uv_cannot_be_told(tmp_path: Path) -> None:
    name = "tinyk-1.0-cp312-cp312-musllinux_1_2_x86_64.whl"
    with pytest.raises(publish_clients.NotTried):
        publish_clients.install("uv", Wanted(name, "0" * 64, "http://127.0.0.1:9/"), TRUSTED)
