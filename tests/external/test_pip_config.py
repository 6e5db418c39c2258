from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.errors import UsageError
from pinctl.external import pip_config
from pinctl.external.pip_config import PYPI, Place, Settings, read
from pinctl.external.web import SILENCE, Access

SECRET = "hunter2"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a configuration, and none in the system."""
    monkeypatch.delenv("PIP_CONFIG_FILE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "xdg"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "platform", "linux")
    real = pip_config._parsed
    monkeypatch.setattr(
        pip_config, "_parsed", lambda path: real(path if path.startswith(str(tmp_path)) else os.devnull)
    )
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def urls() -> list[str]:
    return [place.url for place in read().places]


def test_without_a_configuration() -> None:
    assert read() == Settings((Place(PYPI),), Access(silence=SILENCE))


def test_the_order_of_the_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [home / "xdg/pip/pip.conf", home / ".pip/pip.conf", home / "config/pip/pip.conf", home / "venv/pip.conf",
             home / "chosen.conf"]  # fmt: skip
    for number, file in enumerate(files[:-1]):
        write(file, f"[global]\nindex-url = https://i{number}.example/\n")
        assert urls() == [f"https://i{number}.example/"]
    write(files[-1], "[global]\nextra-index-url = https://chosen.example/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(files[-1]))
    assert urls() == ["https://i3.example/", "https://chosen.example/"]
    files[3].unlink()  # the user's own are not read beside the chosen one (pip, "Configuration")
    assert urls() == ["https://i0.example/", "https://chosen.example/"]
    monkeypatch.setenv("PIP_CONFIG_FILE", str(home / "missing"))
    assert urls() == ["https://i2.example/"]
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert urls() == [PYPI]


def test_the_files_of_macos(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    write(home / ".config/pip/pip.conf", "[global]\nindex-url = https://linux-like.example/\n")
    assert urls() == ["https://linux-like.example/"]
    write(home / "Library/Application Support/pip/pip.conf", "[global]\nindex-url = https://mac.example/\n")
    assert urls() == ["https://mac.example/"]
    assert next(pip_config._files()) == "/Library/Application Support/pip/pip.conf"


def test_sections_and_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
[install]
Extra_Index_Url =
    https://a.example/
    https://b.example/
--index-url = https://install.example/
[download]
index-url = https://download.example/
[global]
index-url = https://global.example/
trusted-host = c.example d.example:8080
cert = ~/ca.pem
client-cert = /c.pem
proxy = http://p.example:3128
timeout = 7.5
[list]
index-url = https://list.example/
"""
    write(home / "config/pip/pip.conf", text)
    assert read() == Settings(
        tuple(Place(f"https://{name}.example/") for name in ("install", "a", "b")),
        Access(f"{home}/ca.pem", "/c.pem", "http://p.example:3128", 7.5, ("c.example", "d.example:8080")),
    )
    monkeypatch.setenv("PIP_INDEX_URL", "https://env.example/")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://a.example/ https://env.example/")
    monkeypatch.setenv("PIP_TIMEOUT", "1")
    monkeypatch.setenv("PIP_CERT", "")  # an empty one is none
    assert urls() == ["https://env.example/", "https://a.example/"]
    assert (read().access.silence, read().access.ca) == (1.0, f"{home}/ca.pem")


def test_folders_and_no_index(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "~/wheels https://l.example/page.html file:///srv/w")
    monkeypatch.setenv("PIP_INDEX_URL", str(home / "my index"))
    links = [Place(f"file://{home}/wheels", False), Place("https://l.example/page.html", False),
             Place("file:///srv/w", False)]  # fmt: skip
    assert list(read().places) == [*links, Place(f"file://{home}/my%20index")]
    for word, left in (("1", links), ("true", links), ("no", [*links, Place(f"file://{home}/my%20index")])):
        monkeypatch.setenv("PIP_NO_INDEX", word)
        assert list(read().places) == left


@pytest.mark.parametrize(
    "text",
    [
        f"index-url = https://u:{SECRET}@i.example/\n",
        f"[global]\nindex-url = {SECRET}\nindex-url = {SECRET}\n",
        f"[global]\n{SECRET}\n",
        f"[global]\nno-index = {SECRET}\n",
        f"[global]\ntimeout = {SECRET}\n",
        "[global]\ntimeout = 0\n",
        "[global]\ntimeout = nan\n",
    ],
)
def test_what_pip_would_not_accept(home: Path, text: str) -> None:
    write(home / "config/pip/pip.conf", text)
    with pytest.raises(UsageError) as error:
        read()
    assert SECRET not in str(error.value)


def test_bytes_that_are_no_text(home: Path) -> None:
    write(home / "config/pip/pip.conf", "")
    (home / "config/pip/pip.conf").write_bytes(b"[global]\n\xff = 1\n")
    with pytest.raises(UsageError):
        read()


@given(st.text())
def test_no_configuration_crashes(text: str) -> None:
    file = Path(os.environ["XDG_CONFIG_HOME"], "pip/pip.conf")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read()
    except UsageError:
        return
