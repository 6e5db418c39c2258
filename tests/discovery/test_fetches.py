"""Downloads of Bazel's files and of `name;url;digest` lists: what `init` makes of them."""

import base64
import tomllib

import pytest

from pinctl.discovery import fetches, telling
from pinctl.discovery.render import render

from .support import DIGEST, NEW, OLD, pins, places, told

XLA = "https://github.com/openxla/xla"
SRI = f"sha256-{base64.b64encode(bytes.fromhex(DIGEST)).decode()}"
SHA1 = "0123456789" * 4
JAX = {
    "third_party/xla/revision.bzl": f'XLA_COMMIT = "{OLD}"\nXLA_SHA256 = "{DIGEST}"\n',
    "third_party/xla/workspace.bzl": f"""\
load("//third_party:repo.bzl", "tf_http_archive", "tf_mirror_urls")
XLA_COMMIT = "{OLD}"
XLA_SHA256 = "{DIGEST}"
def repo():
    tf_http_archive(
        name = "xla",
        sha256 = XLA_SHA256,
        strip_prefix = "xla-{{commit}}".format(commit = XLA_COMMIT),
        urls = tf_mirror_urls("{XLA}/archive/{{commit}}.tar.gz".format(commit = XLA_COMMIT)),
    )
""",
    "MODULE.bazel": f"""\
archive_override(
    module_name = "xla",
    integrity = "{SRI}",
    strip_prefix = "xla-{OLD}",
    urls = ["{XLA}/archive/{OLD}.tar.gz"],
)
git_override(module_name = "rules_ml", remote = "https://github.com/o/rules_ml.git", commit = "{NEW}")
""",
}
DEPS = f"""\
# name;url;sha1
abseil_cpp;https://github.com/abseil/abseil-cpp/archive/refs/tags/20240722.0.zip;{SHA1}
date;https://github.com/HowardHinnant/date/archive/v3.0.1.zip;{SHA1[::-1]}
"""


def test_one_pin_in_three_files_of_bazel() -> None:
    found = pins(JAX)
    assert set(found) == {"xla", "rules_ml"}
    xla = found["xla"]
    assert (xla.repo, xla.commit, xla.sha256, xla.unresolved) == (XLA, OLD, DIGEST, False)
    assert xla.archive == f"{XLA}/archive/{{commit}}.tar.gz"
    revision, workspace = "third_party/xla/revision.bzl", "third_party/xla/workspace.bzl"
    assert places(xla) == {
        (revision, "XLA_COMMIT"): "{commit}",
        (revision, "XLA_SHA256"): "{archive_sha256}",
        (workspace, "XLA_COMMIT"): "{commit}",
        (workspace, "XLA_SHA256"): "{archive_sha256}",
        ("MODULE.bazel", 'archive_override("xla").integrity'): "{archive_sha256:sri}",
        ("MODULE.bazel", 'archive_override("xla").strip_prefix'): "xla-{commit}",
        ("MODULE.bazel", 'archive_override("xla").urls[]'): f"{XLA}/archive/{{commit}}.tar.gz",
    }
    assert places(found["rules_ml"]) == {("MODULE.bazel", 'git_override("rules_ml")'): "{git}"}
    (text,) = [pin["archive"] for pin in tomllib.loads(render([xla]))["pins"].values()]
    assert text == {"url": xla.archive, "sha256": DIGEST}


def test_an_archive_of_no_forge_in_all_of_its_places() -> None:
    url = "https://files.example/cubins/cubins-2026.1.tar.gz"
    bazel = f'http_archive(\n    name = "cubins",\n    urls = ["{url}"],\n    sha256 = "{DIGEST}",\n)\n'
    found = pins({"MODULE.bazel": bazel, "Dockerfile": f"FROM x\nARG CUBIN_URL={url}\nARG CUBIN_SHA256={DIGEST}\n"})
    (pin,) = found.values()
    assert (pin.url, pin.sha256) == (url, DIGEST)
    assert places(pin) == {
        ("Dockerfile", "ARG CUBIN_URL"): "{url}",
        ("Dockerfile", "ARG CUBIN_SHA256"): "{sha256}",
        ("MODULE.bazel", 'http_archive("cubins").urls[]'): "{url}",
        ("MODULE.bazel", 'http_archive("cubins").sha256'): "{sha256}",
    }


def test_a_tag_without_its_v_in_the_folder() -> None:
    text = f"""\
http_archive(
    name = "fmt",
    sha256 = "{DIGEST}",
    strip_prefix = "fmt-10.2.1",
    url = "https://github.com/fmtlib/fmt/archive/refs/tags/v10.2.1.tar.gz",
)
"""
    (pin,) = pins({"WORKSPACE": text}).values()
    assert places(pin) == {
        ("WORKSPACE", 'http_archive("fmt").sha256'): "{archive_sha256}",
        ("WORKSPACE", 'http_archive("fmt").strip_prefix'): "fmt-{version}",
        ("WORKSPACE", 'http_archive("fmt").url'): (
            "https://github.com/fmtlib/fmt/archive/refs/tags/{version:tag}.tar.gz"
        ),
    }


def test_the_address_of_a_mirror_that_a_variable_gives_is_no_url_of_pins_toml() -> None:
    url = f"https://${{GITHUB_MIRROR}}/openxla/xla/archive/{OLD}.tar.gz"
    (pin,) = pins({"a.cmake": f"FetchContent_Declare(xla URL {url} URL_HASH SHA256={DIGEST})\n"}).values()
    assert (pin.repo, pin.sha256, pin.archive) == (XLA, DIGEST, None)


def test_a_list_of_downloads() -> None:
    found = pins({"cmake/deps.txt": DEPS})
    assert set(found) == {"abseil-cpp", "date"}
    assert found["date"].sha1 == SHA1[::-1]
    assert places(found["date"]) == {
        ("cmake/deps.txt", "date.url"): "https://github.com/HowardHinnant/date/archive/{version:tag}.zip",
        ("cmake/deps.txt", "date.sha1"): "{archive_sha1}",
    }
    data = tomllib.loads(render(list(found.values())))["pins"]
    assert data["date"]["archive"] == {
        "sha1": SHA1[::-1], "url": "https://github.com/HowardHinnant/date/archive/v{version}.zip",
    }  # fmt: skip


def test_a_sha1_beside_an_address_is_no_commit() -> None:
    kinds = {selector: what for selector, what, _ in told("cmake/deps.txt", DEPS)}
    assert kinds["abseil_cpp.sha1"] == "digest"


@pytest.mark.parametrize(
    ("selector", "call", "name"),
    [
        ('archive_override("xla").urls[]', 'archive_override("xla")', "xla"),
        ('archive_override(module_name = "my-xla").integrity', 'archive_override(module_name = "my-xla")', "myxla"),
        ("FetchContent(dep).URL_HASH", "FetchContent(dep)", "dep"),
        ("abseil_cpp.sha1", "abseil_cpp", "abseilcpp"),
        ("source.url", "source", ""),
        ("set(X)", None, ""),
        ("/a/url", None, ""),
    ],
)
def test_selectors_of_one_download(selector: str, call: str | None, name: str) -> None:
    assert (fetches.call(selector), fetches.name(selector)) == (call, name)


def test_bazels_lists_of_what_is_fetched_are_read_where_vendored_trees_are_not() -> None:
    assert telling.is_wanted("third_party/xla/revision.bzl")
    assert telling.is_wanted("third_party/repo.bzl")
    assert not telling.is_wanted("third_party/xla/build/x/defs.bzl")
    assert not telling.is_wanted("third_party/xla/BUILD")
    assert telling.is_telling("starlark", b'XLA_COMMIT = "8b1392b978f5cc6770bd45141008bf0ab0bde5c2"\n')
    assert not telling.is_telling("starlark", b'cc_library(name = "a", srcs = ["a.cc"])\n')
