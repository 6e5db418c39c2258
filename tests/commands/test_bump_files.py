"""`pinctl bump` of archives and images, and of an engine that holds everything in many places."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from integration.indexes import Reply
from integration.servers import git_daemon, instead_of, serve
from repositories import MakeRepository

from commands.releases import FILES, Shop, sha256
from pinctl.external import download

ARCHIVE = """\
[pins.fmt]
url = "https://files.example/fmt-{{version}}.tar.gz"
version = "{version}"
sha256 = "{digest}"
sites."deps.sh".FMT_URL = "{{url}}"
sites."deps.sh".FMT_SHA256 = "{{sha256}}"
"""
SCRIPT = 'FMT_URL="https://files.example/fmt-{version}.tar.gz"\nFMT_SHA256={digest}\n'


def archive(shop: Shop, data: bytes = b"one") -> str:
    """Consume fmt 1.0, whose archive is `data`: its digest."""
    digest = shop.file("fmt-1.0.tar.gz", data)
    values = {"version": "1.0", "digest": digest}
    shop.consume(ARCHIVE.format(**values), {"deps.sh": SCRIPT.format(**values)})
    return digest


def test_the_digest_of_an_archive_is_computed_from_the_download(shop: Shop) -> None:
    archive(shop)
    digest = shop.file("fmt-1.1.tar.gz", b"another one")
    run = shop.bump("fmt", "--to", "1.1")
    assert (run.code, run.told) == (0, [])
    assert shop.text("deps.sh") == SCRIPT.format(version="1.1", digest=digest)
    assert f'sha256 = "{digest}"' in shop.text("pins.toml")
    assert shop.run("check").code == 0
    (row,) = run.document["result"]["pins"]
    assert (row["from"], row["to"], row["changes"]) == ("1.0", "1.1", {"version": "1.1", "sha256": digest})
    shop.engine.commit("bumped")
    assert shop.bump("fmt", "--rollback").code == 0
    assert shop.text("deps.sh") == SCRIPT.format(version="1.0", digest=sha256(b"one"))


@pytest.mark.parametrize(
    ("reply", "code", "told"),
    [
        (Reply(status=404), 1, "PIN329"),
        (Reply(status=503), 4, "PIN320"),
        (Reply(status=302, headers={"Location": "http://10.0.0.1/x"}), 1, "PIN321"),
    ],
)
def test_without_the_new_archive_nothing_is_written(shop: Shop, reply: Reply, code: int, told: str) -> None:
    archive(shop)
    shop.server.pages["/fmt-1.1.tar.gz"] = reply
    run = shop.bump("fmt", "--to", "1.1")
    assert (run.code, run.told, shop.status) == (code, [(told, "error")], "")
    assert "bytes" not in shop.run("bump", "--policy", str(shop.policy), "fmt", "--to", "1.1").out.splitlines()[1]


def test_what_no_server_tells_is_said(shop: Shop) -> None:
    shop.consume(ARCHIVE.format(version="1.0", digest=shop.file("fmt-1.0.tar.gz", b"one" * 512)),
                 {"deps.sh": SCRIPT.format(version="1.0", digest=sha256(b"one" * 512))})  # fmt: skip
    said = shop.run("bump", "--policy", str(shop.policy), "fmt").out.splitlines()
    assert said[1].split("  ")[-1] == "1.5 KiB, the same bytes; no server tells what is newer"


@pytest.mark.parametrize("words", [("fmt",), ("fmt", "--to", "1.0")])
def test_the_same_url_with_other_bytes(shop: Shop, words: tuple[str, ...]) -> None:
    archive(shop)
    run = shop.bump(*words)
    assert (run.code, run.told, shop.status) == (0, [], "")
    digest = shop.file("fmt-1.0.tar.gz", b"replaced")
    run = shop.bump(*words)
    assert (run.code, run.told, shop.status) == (1, [("PIN330", "error")], "")
    (found,) = run.document["findings"]
    assert (found["expected"], found["found"], found["line"]) == (sha256(b"one"), digest, 5)
    assert "--accept PIN330" in found["hint"]
    run = shop.bump(*words, "--accept", "PIN330")
    assert (run.code, run.told) == (0, [("PIN330", "warning")])
    assert shop.text("deps.sh") == SCRIPT.format(version="1.0", digest=digest)


def test_a_rollback_to_an_archive_that_was_replaced(shop: Shop) -> None:
    archive(shop)
    shop.file("fmt-1.1.tar.gz", b"another one")
    assert shop.bump("fmt", "--to", "1.1").code == 0
    shop.engine.commit("bumped")
    shop.file("fmt-1.0.tar.gz", b"replaced")
    run = shop.bump("fmt", "--rollback")
    assert (run.code, run.told, shop.status) == (1, [("PIN330", "error")], "")


def test_an_archive_for_each_platform(shop: Shop) -> None:
    both = {name: shop.file(f"fmt-1.0-{name}.whl", name.encode()) for name in ("x86_64", "aarch64")}
    pins = (
        '[pins.fmt]\nurl = "https://files.example/fmt-{version}-{platform}.whl"\nversion = "1.0"\n'
        f'sha256 = {{ x86_64 = "{both["x86_64"]}", aarch64 = "{both["aarch64"]}" }}\n'
        'sites."deps.sh".URL = "{url.aarch64}"\nsites."deps.sh".X86 = "{sha256.x86_64}"\n'
        'sites."deps.sh".ARM = "{sha256.aarch64:sri}"\n'
    )
    sri = "sha256-" + base64.b64encode(bytes.fromhex(both["aarch64"])).decode()
    script = f"URL={FILES}fmt-1.0-aarch64.whl\nX86={both['x86_64']}\nARM={sri}\n"
    shop.consume(pins, {"deps.sh": script})
    shop.file("fmt-1.1-x86_64.whl", b"new")
    assert (shop.bump("fmt", "--to", "1.1").told, shop.status) == ([("PIN329", "error")], "")
    new = shop.file("fmt-1.1-aarch64.whl", b"new arm")
    assert shop.bump("fmt", "--to", "1.1").code == 0
    text = shop.text("deps.sh")
    assert f"fmt-1.1-aarch64.whl\nX86={sha256(b'new')}\n" in text
    assert f'aarch64 = "{new}"' in shop.text("pins.toml")
    assert shop.run("verify", "--policy", str(shop.policy)).code == 0
    shop.file("fmt-1.1-aarch64.whl", b"replaced")
    run = shop.run("verify", "--policy", str(shop.policy), "--format", "json")
    assert (run.code, run.told) == (1, [("PIN330", "error")])


def test_what_was_left_open_is_filled_in(shop: Shop) -> None:
    digest = shop.file("fmt-1.0.tar.gz", b"one")
    pin = ARCHIVE.format(version="1.0", digest="").replace('sha256 = ""', "unresolved = true").split("sites")[0]
    image = '[pins.os]\nimage = "os:1"\nunresolved = true\nunused = true\n'
    shop.consume(f"{pin}unused = true\n{image}")
    of_image = shop.image("library/os", "1", "linux/amd64")
    assert shop.run("bump", "fmt").code == 2
    run = shop.bump("--resolve")
    assert (run.code, run.told) == (0, []), run.out
    text = shop.text("pins.toml")
    assert f'sha256 = "{digest}"' in text
    assert f'digest = "{of_image}"' in text
    assert "unresolved" not in text


def test_a_url_that_names_no_version_leads_nowhere_else(shop: Shop) -> None:
    digest = shop.file("fmt.tar.gz", b"one")
    shop.consume(f'[pins.fmt]\nurl = "{FILES}fmt.tar.gz"\nversion = "1.0"\nsha256 = "{digest}"\nunused = true\n')
    assert shop.run("bump", "fmt", "--to", "1.1").code == 2
    assert shop.bump("--all").document["result"]["pins"] == []  # no server tells what is newer
    assert shop.bump("fmt").told == []


def test_the_releases_of_a_forge_are_its_tags(
    shop: Shop, make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = make_repository("srv/o/fmt.git")
    for version in ("1.0", "1.1", "1.2rc1", "2.0.post1"):
        up.commit(version, {"v": version})
        up.git("tag", f"v{version}")
    serve(up.path)
    url = "https://github.com/o/fmt/releases/download/v{version}/fmt-{version}.zip"
    mirrors = shop.policy.read_text()
    shop.policy.write_text(mirrors.replace(FILES, "https://github.com/"))
    digest = shop.file("o/fmt/releases/download/v1.0/fmt-1.0.zip", b"one")
    new = shop.file("o/fmt/releases/download/v2.0.post1/fmt-2.0.post1.zip", b"two")
    shop.consume(f'[pins.fmt]\nurl = "{url}"\nversion = "1.0"\nsha256 = "{digest}"\nunused = true\n')
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address, "https://github.com/").items():
            monkeypatch.setenv(key, value)
        assert shop.bump("--check", "--all").code == 1
        body = tmp_path / "body.md"
        run = shop.bump("fmt", "--body", str(body))
        assert (run.code, run.told) == (0, []), run.out
        row = shop.run("status", "--policy", str(shop.policy), "--format", "json").document["result"]["pins"][0]
    assert f'version = "2.0.post1"\nsha256 = "{new}"' in shop.text("pins.toml")
    assert "https://github.com/o/fmt/releases/tag/v2.0.post1" in body.read_text()
    assert (row["newest"], row["behind"]) == ("2.0.post1", 0)


# --- hostile archives (a file is hashed as it passes, and never unpacked) -----------------------------------------


def _tar(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as made:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname, entry.size = kind, "/etc/passwd", size
        made.addfile(entry, io.BytesIO(bytes(size)))
    return out.getvalue()


def _zip(name: str, size: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, bytes(size))
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        _tar("../../evil"), _tar("/var/evil"), _tar("evil", tarfile.SYMTYPE), _tar("a" * 200, size=1 << 24),
        _zip("../evil"), _zip("/evil"), _zip("x", 1 << 24), _zip("x") + _zip("y"), gzip.compress(bytes(1 << 24)), b"",
    ],
)  # fmt: skip
def test_an_archive_is_nothing_but_bytes(shop: Shop, tmp_path: Path, data: bytes) -> None:
    archive(shop)
    shop.file("fmt-1.1.tar.gz", data)
    before = sorted(tmp_path.rglob("*evil*"))
    assert shop.bump("fmt", "--to", "1.1").code == 0
    assert sha256(data) in shop.text("deps.sh")
    assert sorted(tmp_path.rglob("*evil*")) == before == []


def test_an_archive_has_a_size_that_it_may_have(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    archive(shop)
    shop.file("fmt-1.1.tar.gz", bytes(3 << 20))
    monkeypatch.setattr(download, "LARGEST", 1 << 20)
    run = shop.bump("fmt", "--to", "1.1")
    assert (run.code, run.told, shop.status) == (1, [("PIN321", "error")], "")


# --- images -------------------------------------------------------------------------------------------------------

IMAGES = """\
[pins.os]
image = "os:1"
digest = "{os}"
sites.Dockerfile."FROM" = "{{image}}@{{digest}}"
[variants.cu13]
image = "pytorch/builder:cuda13.0"
platforms = ["linux/amd64", "linux/arm64"]
"""


def test_an_image_goes_to_the_digest_of_its_tag_or_to_another_tag(shop: Shop) -> None:
    digest = shop.image("library/os", "1", "linux/amd64", "linux/arm64")
    shop.consume(IMAGES.format(os=digest), {"Dockerfile": f"FROM os:1@{digest}\n"})
    assert shop.bump("os").document["result"]["pins"] == []
    new = shop.image("library/os", "1", "linux/amd64", "linux/arm64", "unknown/unknown", note="patched")
    run = shop.bump("--check", "os")
    assert (run.code, run.document["result"]["pins"][0]["to"]) == (1, new)
    run = shop.run("bump", "--policy", str(shop.policy), "os")
    assert run.code == 0
    assert "linux/amd64, linux/arm64" in run.out
    assert shop.text("Dockerfile") == f"FROM os:1@{new}\n"
    two = shop.image("library/os", "2", note="two")
    assert shop.bump("os", "--to", "2").code == 0
    assert shop.text("Dockerfile") == f"FROM os:2@{two}\n"
    for tag in ("3", "a b", "../x", "-x", "x@y"):
        assert shop.bump("os", "--to", tag).code == 2, tag
    shop.engine.commit("two")
    assert shop.bump("os", "--rollback").code == 0
    assert shop.text("Dockerfile") == f"FROM os:1@{digest}\n"


def test_the_image_of_a_variant(shop: Shop) -> None:
    digest = shop.image("pytorch/builder", "cuda13.0", "linux/amd64", "linux/arm64")
    variant = "[variants.cu13]" + IMAGES.partition("[variants.cu13]")[2]
    shop.consume(f'{variant}[[sites]]\nfile = "a.env"\nIMAGE = "{{variants.cu13.image}}"\n',
                 {"a.env": "IMAGE=pytorch/builder:cuda13.0\n"})  # fmt: skip
    assert shop.bump("variants.cu13").code == 0
    assert f'digest = "{digest}"\n' in shop.text("pins.toml")
    one = shop.image("pytorch/builder", "cuda13.1", "linux/amd64")
    run = shop.bump("variants.cu13", "--to", "cuda13.1")
    assert (run.code, run.told) == (1, [("PIN334", "error")])
    assert "linux/arm64" in run.document["findings"][0]["message"]
    assert shop.text("a.env") == "IMAGE=pytorch/builder:cuda13.0\n"
    assert shop.bump("variants.cu13", "--to", "cuda13.1", "--accept", "PIN334").code == 0
    assert f'digest = "{one}"\n' in shop.text("pins.toml")
    assert shop.text("a.env") == "IMAGE=pytorch/builder:cuda13.1\n"
    assert shop.run("check").code == 0
    assert shop.bump("--all").document["result"]["pins"] == []
    assert shop.run("bump", "variants.cu14").code == 2
    words = ("verify", "--images", "--policy", str(shop.policy), "--format", "json")
    run = shop.run(*words)
    assert (run.code, [row["name"] for row in run.document["result"]["pins"]]) == (0, ["variants.cu13"])
    shop.image("pytorch/builder", "cuda13.1", "linux/amd64", note="moved")
    run = shop.run(*words)
    assert (run.code, run.told, run.document["findings"][0]["pin"]) == (1, [("PIN333", "error")], "variants.cu13")


def test_a_registry_that_lies_about_a_digest(shop: Shop) -> None:
    digest = shop.image("library/os", "1", "linux/amd64")
    shop.consume(IMAGES.format(os=digest), {"Dockerfile": f"FROM os:1@{digest}\n"})
    new = shop.image("library/os", "1", "linux/amd64", note="new")
    shop.server.pages[f"/v2/library/os/manifests/{new}"] = Reply(b"{}", headers={"Docker-Content-Digest": new})
    run = shop.bump("os")
    assert (run.code, run.told, shop.status) == (1, [("PIN321", "error")], "")


# --- an engine with everything in many places ---------------------------------------------------------------------

ENGINE = """\
[pins.sgl-deep-gemm]
packages = ["sgl-deep-gemm"]
version = "0.1.5"
group = "deep-gemm"
[pins.sgl-deep-gemm.sites]
"python/pyproject.toml"."requirement sgl-deep-gemm" = "{version}"
"requirements/cuda.txt"."requirement sgl-deep-gemm" = "{version}"
"docker/Dockerfile"."ARG SGL_DEEP_GEMM_VERSION" = "{version}"
"docker/cu12.Dockerfile"."ARG SGL_DEEP_GEMM_VERSION" = "{version}"
"docker/cu12.Dockerfile"."comment:sgl-deep-gemm" = "{version}"
"docker/cu13.Dockerfile"."pip install sgl-deep-gemm" = "{version}"
".github/ci.yaml"."pip install sgl-deep-gemm" = "{version}"
"ci.sh"."pip install sgl-deep-gemm" = "{version}"

[pins.sgl-deep-gemm-cu12]
url = "https://files.example/v{version}/sgl_deep_gemm-{version}+cu129-py3-none-manylinux2014_x86_64.whl"
version = "0.1.5"
sha256 = "<WHEEL>"
group = "deep-gemm"
[pins.sgl-deep-gemm-cu12.sites]
"docker/cu12.Dockerfile"."url sgl-deep-gemm" = "{url}"
"docker/cu12.Dockerfile"."ARG WHEEL_SHA256" = "{sha256}"
"requirements/cu12.txt"."url sgl-deep-gemm" = "{url}"
"python/pyproject.toml"."tool.uv.sources.sgl-deep-gemm.url" = "{url}"

[pins.cubins]
url = "https://files.example/cubins/{version}.tar.gz"
version = "2026.1"
sha256 = "<CUBINS>"
[pins.cubins.sites]
"docker/Dockerfile"."ARG CUBIN_URL" = "{url}"
"docker/Dockerfile"."ARG CUBIN_SHA256" = "{sha256}"
"docker/Dockerfile"."ARG CUBIN_DIR" = "cubins-{version}"
"docker/cu13.Dockerfile"."ENV CUBIN_URL" = "{url}"
"docker/cu13.Dockerfile"."ENV CUBIN_SHA256" = "{sha256}"
"docker/cu13.Dockerfile"."ENV CUBIN_DIR" = "cubins-{version}"
"ci.sh".CUBIN_URL = "{url}"
"ci.sh".CUBIN_SHA256 = "{sha256}"
"ci.sh".CUBIN_DIR = "cubins-{version}"
"""
PLACES = {
    "python/pyproject.toml": """\
[project]
dependencies = ["torch>=2.8", "sgl-deep-gemm==0.1.5 ; sys_platform == 'linux'"]
[tool.uv.sources]
sgl-deep-gemm = { url = "https://files.example/v0.1.5/sgl_deep_gemm-0.1.5+cu129-py3-none-manylinux2014_x86_64.whl" }
""",
    "requirements/cuda.txt": "sgl_deep_gemm[all]==0.1.5 --hash=sha256:<PYPI>\n",
    "requirements/cu12.txt": """\
sgl-deep-gemm @ https://files.example/v0.1.5/sgl_deep_gemm-0.1.5+cu129-py3-none-manylinux2014_x86_64.whl \\
    --hash=sha256:<WHEEL>
""",
    "docker/Dockerfile": """\
FROM base
ARG SGL_DEEP_GEMM_VERSION=0.1.5
ARG CUBIN_URL=https://files.example/cubins/2026.1.tar.gz
ARG CUBIN_SHA256=<CUBINS>
ARG CUBIN_DIR="cubins-2026.1"
RUN pip install sgl-deep-gemm==${SGL_DEEP_GEMM_VERSION}
""",
    "docker/cu12.Dockerfile": """\
FROM base
# cu12 has no wheel on PyPI: sgl-deep-gemm 0.1.5 comes from the releases
ARG SGL_DEEP_GEMM_VERSION="0.1.5"
ARG WHEEL_SHA256=<WHEEL>
RUN pip install https://files.example/v0.1.5/sgl_deep_gemm-0.1.5+cu129-py3-none-manylinux2014_x86_64.whl && \\
    echo 0.1.5.post2
""",
    "docker/cu13.Dockerfile": """\
FROM base
ENV CUBIN_URL="https://files.example/cubins/2026.1.tar.gz" CUBIN_SHA256=<CUBINS> CUBIN_DIR=cubins-2026.1
RUN pip install "sgl-deep-gemm==0.1.5" torch
""",
    ".github/ci.yaml": "steps:\n  - run: pip install sgl-deep-gemm==0.1.5\n",
    "ci.sh": """\
CUBIN_URL='https://files.example/cubins/2026.1.tar.gz'
CUBIN_SHA256="<CUBINS>"
CUBIN_DIR=cubins-2026.1
pip install sgl-deep-gemm==0.1.5
""",
}


def test_one_bump_changes_every_place(shop: Shop) -> None:
    asset = "sgl_deep_gemm-{0}+cu129-py3-none-manylinux2014_x86_64.whl"
    shop.project("sgl-deep-gemm", "0.1.5", "0.1.5.post2", v0_1_5={"hashes": {"sha256": "1" * 64}},
                 v0_1_5_post2={"hashes": {"sha256": "2" * 64}})  # fmt: skip
    old = {"<WHEEL>": shop.file(f"v0.1.5/{asset.format('0.1.5')}", b"old wheel"),
           "<CUBINS>": shop.file("cubins/2026.1.tar.gz", b"old cubins"), "<PYPI>": "1" * 64}  # fmt: skip
    new = {"<WHEEL>": shop.file(f"v0.1.5.post2/{asset.format('0.1.5.post2')}", b"new wheel"),
           "<CUBINS>": shop.file("cubins/2026.2.tar.gz", b"new cubins"), "<PYPI>": "2" * 64}  # fmt: skip

    def filled(text: str, values: dict[str, str]) -> str:
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    shop.consume(filled(ENGINE, old), {file: filled(text, old) for file, text in PLACES.items()})
    run = shop.bump("--all", "--allow-workflows")
    assert (run.code, run.told) == (0, []), run.out
    assert [row["name"] for row in run.document["result"]["pins"]] == ["sgl-deep-gemm", "sgl-deep-gemm-cu12"]
    assert shop.run("check").code == 0
    run = shop.bump("cubins", "--to", "2026.2")
    assert (run.code, run.told) == (0, []), run.out
    for file, text in PLACES.items():
        wanted = text.replace("0.1.5", "0.1.5.post2").replace("0.1.5.post2.post2", "0.1.5.post2")
        assert shop.text(file) == filled(wanted.replace("2026.1", "2026.2"), new), file
    assert shop.run("check").code == 0
    assert shop.run("verify", "--policy", str(shop.policy)).code == 0


def test_a_url_that_is_filled_in_is_bumped_and_not_adopted(shop: Shop) -> None:
    archive(shop)
    digest = shop.file("fmt-1.1.tar.gz", b"another one")
    shop.engine.write("deps.sh", shop.text("deps.sh").replace("1.0", "1.1"))
    run = shop.run("adopt", "deps.sh", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN224"])
    assert run.document["findings"][0]["hint"] == "run: pinctl bump fmt --to VERSION"
    assert "{version}" in shop.text("pins.toml")
    assert shop.bump("fmt", "--to", "1.1").code == 0
    assert shop.text("deps.sh") == SCRIPT.format(version="1.1", digest=digest)


def test_what_stands_in_a_file_that_is_extended_changes_there(shop: Shop) -> None:
    digest = shop.file("fmt-1.0.tar.gz", b"one")
    base = ARCHIVE.format(version="1.0", digest=digest).replace("sha256 =", "unused = true\nsha256 =").split("sites")[0]
    image = '[variants.cu13]\nimage = "os:1"\n'
    files = {"base.toml": f"schema = 1\n{base}", "pins.toml": f'schema = 1\nextends = "base.toml"\n{image}'}
    shop.engine.commit("an engine", files)
    of_image = shop.image("library/os", "1", "linux/amd64")
    new = shop.file("fmt-1.1.tar.gz", b"two")
    assert shop.bump("fmt", "--to", "1.1").code == 0
    assert shop.bump("variants.cu13").code == 0
    assert f'version = "1.1"\nunused = true\nsha256 = "{new}"' in shop.text("base.toml")
    assert shop.text("pins.toml") == f'{files["pins.toml"]}digest = "{of_image}"\n'
