"""`pinctl contract` on repositories served on loopback. What history showed is here as reduced, made-up cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from consumer import Run, pinctl
from integration.servers import git_daemon, instead_of, serve
from repositories import GitRepository, MakeRepository

URL = "https://git.example/up"

API = """\
#include <torch/python.h>
{guard}
PYBIND11_MODULE(_C, m) {{
{defs}
}}
{end}
"""
INIT = """\
from ._C import gemm, grouped_gemm
from .mega import mega_moe

old_gemm = gemm
"""
MEGA = """\
def mega_moe(x, *, situ_beta=None, situ_linear_beta=None):
    return x


def _interleave_l1_weights(weights):
    return weights
"""
DEFS = """\
    m.def("gemm", &gemm, py::arg("a"), py::arg("b"), py::arg("d"), py::arg("recipe") = std::nullopt);
    m.def("grouped_gemm", &grouped_gemm, py::arg("a"), py::arg("b"), py::arg("d"), py::arg("m_indices"));
"""


def api(defs: str = DEFS, guard: str = "") -> str:
    return API.format(defs=defs, guard=f"#if {guard}" if guard else "", end="#endif" if guard else "")


START = {"csrc/api.cpp": api(), "up/__init__.py": INIT, "up/mega.py": MEGA, "third-party/README": "none\n"}


@dataclass
class World:
    """A package `up`, served as https://git.example/up, and an engine that pins it at its first commit."""

    up: GitRepository
    engine: GitRepository
    first: str = ""

    def pin(self, commit: str, *lines: str) -> None:
        """Write a pins.toml that pins `commit`; `lines` of the contract begin at line 8."""
        head = ["schema = 1", "[pins.up]", f'repo = "{URL}"', f'commit = "{commit}"', 'track = "main"', "unused = true",
                "[pins.up.contract]"]  # fmt: skip
        self.engine.write("pins.toml", "\n".join([*head, *lines]) + "\n")

    def move(self, files: dict[str, str | None]) -> str:
        """The next commit of the package, with other files; None takes a file away."""
        for path, text in files.items():
            (self.up.path / path).unlink() if text is None else self.up.write(path, text)
        return self.up.commit("next")

    def run(self, *words: str) -> Run:
        return pinctl("contract", "up", *words, cwd=self.engine.path)

    def told(self, *words: str) -> list[tuple[Any, ...]]:
        """Class, symbol, file and line of each break that is no baseline."""
        document = self.run("--format", "json", *words).document
        return [
            (b["class"], b["symbol"], b["file"], b["line"]) for b in document["result"]["breaks"] if not b["baseline"]
        ]

    def engine_has(self, **files: str) -> None:
        self.engine.commit("engine", {name.replace("__", "/") + ".py": text for name, text in files.items()})


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    up, engine = make_repository("srv/up"), make_repository("engine")
    first = up.commit("start", dict(START))
    serve(up.path)
    made = World(up, engine, first)
    made.pin(first)
    engine.commit("pin")
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield made


# --- what history showed ---


def test_a_private_helper_that_was_renamed(world: World) -> None:
    """An import of a private name fails as soon as the module is imported; the new name is offered."""
    world.engine_has(moe="from up.mega import _interleave_l1_weights\n")
    b = world.move({"up/mega.py": MEGA.replace("_interleave_l1_weights", "_interleave_weights")})
    run = world.run(world.first, b, "--format", "json")
    (found,) = run.document["findings"]
    assert (run.code, found["code"], found["file"], found["line"], found["column"]) == (1, "PIN401", "moe.py", 1, 21)
    assert found["message"] == "HARD, import time: `up.mega._interleave_l1_weights` is gone"
    assert found["hint"] == "`up.mega._interleave_weights` is new there, with the same parameters"
    assert found["expected"] == "up/mega.py:5 _interleave_l1_weights(weights)"


LAZY = """\
import importlib

_impl = None


def _init():
    global _impl
    package = importlib.import_module("up")
    _impl = getattr(package, "old_gemm", None)


def gemm(a, b, d):
    _init()
    if _impl is None:
        raise RuntimeError("no kernel")
    return _impl(a, b, d)
"""


def test_an_alias_that_was_removed(world: World) -> None:
    """A getattr with a default hides it: what goes through it is told, and what it was another name of."""
    world.engine_has(kernels=LAZY)
    b = world.move({"up/__init__.py": INIT.replace("old_gemm = gemm\n", "")})
    (found,) = world.run(world.first, b, "--format", "json").document["findings"]
    assert (found["code"], found["line"]) == ("PIN402", 9)
    assert found["message"] == ("SILENT, call time: `up.old_gemm` is gone, and a default of getattr hides it")
    assert found["hint"] == "it was another name of `up.gemm`, which is still there"
    assert [(r["line"], r["message"]) for r in found["related"]] == [(16, "goes through it")]


RESOLVER = """\
import importlib

_gemm_impl = None
_masked_impl = None


def _missing(*_, **__):
    raise RuntimeError("no kernels")


def _import_up():
    try:
        return importlib.import_module("up")
    except ImportError:
        pass
    try:
        return importlib.import_module("engine.third_party.up")
    except ImportError:
        return None


def _init():
    global _gemm_impl, _masked_impl
    if _gemm_impl is not None or _masked_impl is not None:
        return
    _up = _import_up()
    if _up is None:
        return
    _gemm_impl = getattr(_up, "gemm", None)
    _masked_impl = getattr(_up, "up_masked_gemm", None)


def masked_gemm(*args, **kwargs):
    _init()
    if _masked_impl is None:
        return _missing(*args, **kwargs)
    return _masked_impl(*args, **kwargs)
"""
EXPERTS = """\
from engine.kernels import _import_up, masked_gemm


def experts(a, b, d, alpha, linear):
    masked_gemm(a, b, d, recipe=(1, 1, 32))
    masked_gemm(a, b, d)
    up = _import_up()
    up.mega_moe(a, situ_beta=alpha, situ_linear_beta=linear)
"""
ALIASES = """\
from . import _C
from ._C import gemm

try:
    from ._C import grouped_gemm, masked_gemm

    # Some alias for legacy support
    up_masked_gemm = masked_gemm
except ImportError:
    pass

from .mega import mega_moe
"""


def test_a_backend_and_keywords_that_go_missing_behind_a_resolver(world: World) -> None:
    """As vLLM asks for DeepGEMM: handles that a helper resolves late, wrappers that other modules call; as DeepGEMM
    gives it: an alias among names that are there if the extension has them, keywords of a function in a module below.
    Where the alias goes, the wrapper takes its fallback and nobody hears of it."""
    masked = DEFS.splitlines()[0].replace("gemm", "masked_gemm")
    a = world.move({"csrc/api.cpp": api(DEFS + masked), "up/__init__.py": ALIASES})
    world.engine_has(engine__kernels=RESOLVER, engine__experts=EXPERTS)
    world.pin(a, 'import_names = ["up", "engine.third_party.up"]')
    renamed = MEGA.replace("situ_linear_beta", "activation_beta").replace("situ_beta", "activation_alpha")
    without = "".join(ALIASES.split("\n    # Some alias for legacy support\n    up_masked_gemm = masked_gemm"))
    b = world.move({"up/__init__.py": without, "up/mega.py": renamed})
    run = world.run(a, b, "--format", "json")
    assert run.code == 1
    assert [
        (f["code"], f["file"], f["line"], f["hint"], [(r["file"], r["line"]) for r in f["related"]])
        for f in run.document["findings"]
    ] == [
        *[("PIN401", "engine/experts.py", 8, "new there: `activation_alpha`, `activation_beta`", [])] * 2,
        ("PIN402", "engine/kernels.py", 30, "it was another name of `up.masked_gemm`, which is still there",
         [("engine/experts.py", 5), ("engine/experts.py", 6), ("engine/kernels.py", 37)]),
    ]  # fmt: skip
    assert [f["message"] for f in run.document["findings"]] == [
        "HARD, call time: the call of `up.mega_moe`: no parameter is called `situ_beta`",
        "HARD, call time: the call of `up.mega_moe`: no parameter is called `situ_linear_beta`",
        "SILENT, call time: `up.up_masked_gemm` is gone, and a default of getattr hides it",
    ]
    world.pin(b, 'import_names = ["up", "engine.third_party.up"]')
    world.engine_has(engine__kernels=RESOLVER.replace("up_masked", "masked"), engine__experts=EXPERTS.replace(
        "situ_linear_beta", "activation_beta").replace("situ_beta", "activation_alpha"))  # fmt: skip
    assert world.told(b, a) == [
        ("HARD", "up.mega_moe", "engine/experts.py", 8), ("HARD", "up.mega_moe", "engine/experts.py", 8),
    ]  # fmt: skip
    assert world.told(a, b) == []


def test_keywords_that_others_replaced(world: World) -> None:
    world.engine_has(moe="import up\n\n\ndef f(x):\n    return up.mega_moe(x, situ_beta=1, situ_linear_beta=2)\n")
    b = world.move(
        {"up/mega.py": MEGA.replace("situ_linear_beta", "activation_beta").replace("situ_beta", "activation_alpha")}
    )
    assert world.told(world.first, b) == [("HARD", "up.mega_moe", "moe.py", 5)] * 2
    findings = world.run(world.first, b, "--format", "json").document["findings"]
    assert [f["message"].rpartition(": ")[2] for f in findings] == [
        "no parameter is called `situ_beta`", "no parameter is called `situ_linear_beta`",
    ]  # fmt: skip
    assert {f["hint"] for f in findings} == {"new there: `activation_alpha`, `activation_beta`"}


def test_a_renamed_parameter_and_a_new_condition(world: World) -> None:
    """Nothing fails: the fourth argument has another name, and the names are behind `#if`."""
    world.engine_has(moe="import up\n\n\ndef f(a, b, d, m):\n    up.gemm(a, b, d)\n    up.grouped_gemm(a, b, d, m)\n")
    b = world.move({"csrc/api.cpp": api(DEFS.replace("m_indices", "grouped_layout"), "CUDART_VERSION >= 12090")})
    assert world.told(world.first, b) == [
        ("GUARD", "up.gemm", "moe.py", 5),
        ("GUARD", "up.grouped_gemm", "moe.py", 6),
        ("RENAMED", "up.grouped_gemm", "moe.py", 6),
    ]
    assert world.run(world.first, b).code == 0


CMAKE = """\
install(FILES "${up_SOURCE_DIR}/up/__init__.py" DESTINATION engine/third_party/up)
install(DIRECTORY "${up_SOURCE_DIR}/up/utils/" DESTINATION engine/third_party/up/utils
  FILES_MATCHING PATTERN "*.py")
"""


def test_a_module_that_the_install_rules_leave_out(world: World) -> None:
    plain = INIT.replace("from .mega import mega_moe\n", "from .utils import cdiv\n")
    a = world.move({"up/__init__.py": plain, "up/mega.py": None, "up/utils/__init__.py": "def cdiv(a, b): ...\n"})
    world.engine.write("cmake/up.cmake", CMAKE)
    world.engine_has(moe="import up\n\nup.cdiv(1, 2)\n")
    b = world.move({"up/__init__.py": f"{plain}from .mega import mega_moe\n", "up/mega/__init__.py": MEGA})
    assert world.told(a, b) == [("VENDOR", "up/mega/__init__.py", "cmake/up.cmake", 2)]
    assert world.told(b, b) == []


def test_a_build_path_that_is_gone(world: World) -> None:
    world.engine.write("cmake/up.cmake", "include_directories(${up_SOURCE_DIR}/third-party)\n")
    world.engine.commit("build")
    b = world.move({"third-party/README": None})
    assert world.told(world.first, b) == [("PATH", "third-party", "cmake/up.cmake", 1)]


def test_what_is_required_and_absent(world: World) -> None:
    world.pin(world.first, 'requires = ["mega_mhc", "mega_moe(situ_beta)"]')
    run = world.run("--format", "json")
    assert (run.code, run.codes) == (1, ["PIN415"])
    (found,) = run.document["findings"]
    assert (found["file"], found["line"], found["column"], found["hint"]) == ("pins.toml", 8, 13, None)
    assert found["message"] == "SILENT: `mega_mhc` is not there, and `requires` asks for it"


def test_a_pin_moved_alone_that_breaks_nothing(world: World) -> None:
    world.engine_has(kernels=LAZY, moe="import up\n\nup.mega_moe(1, situ_beta=2)\n")
    b = world.move({"up/mega.py": MEGA.replace("situ_linear_beta=None", "situ_linear_beta=None, more=1")})
    run = world.run(world.first, b)
    assert (run.code, run.out.split("\n")[0]) == (
        0, f"5 uses of 3 names of up from {world.first[:10]} to {b[:10]}: none fails",
    )  # fmt: skip


# --- cases from the public ---


def test_a_keyword_that_first_appears_after_the_pin(world: World) -> None:
    """H09: a caller gives a keyword that the pinned release does not have yet (vllm-project/vllm#48054)."""
    world.pin(world.first, 'requires = ["mega_moe(activation_alpha)"]')
    world.move({"README": "unrelated\n"})
    second = world.move({"up/mega.py": MEGA.replace("situ_beta=None", "situ_beta=None, activation_alpha=None")})
    world.move({"up/mega.py": MEGA.replace("situ_beta=None", "situ_beta=None, activation_alpha=1")})
    (found,) = world.run("--format", "json").document["findings"]
    assert found["code"] == "PIN415"
    assert found["message"] == "SILENT: `mega_moe` takes no `activation_alpha`, and `requires` asks for it"
    assert found["found"] == "up/__init__.py:2 mega_moe(x, *, situ_beta=None, situ_linear_beta=None)"
    assert found["hint"] == f"the first commit of main that has it: {second} (2023-11-15)"


# --- which commits ---


def test_without_commits_the_move_is_that_of_the_work_tree(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\n")
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    assert world.told() == []
    world.pin(b)
    assert world.told() == [("HARD", "up.mega_moe", "moe.py", 3)]
    world.engine.commit("bump")
    assert world.told() == []  # A and B are one: what is wrong was wrong before
    assert world.run("--format", "json").codes == ["PIN416"]


def test_code_that_changed_with_the_pin_is_judged_by_the_new_commit(world: World) -> None:
    world.engine_has(moe="import up\n\n\ndef f(a, b, d):\n    up.gemm(a, b, d)\n    up.gemm(a, b, d)\n")
    b = world.move({"csrc/api.cpp": api(DEFS.replace('py::arg("a"), py::arg("b")', 'py::arg("b"), py::arg("a")', 1))})
    world.pin(b)
    assert world.told() == [("REBIND", "up.gemm", "moe.py", 5), ("REBIND", "up.gemm", "moe.py", 6)]
    world.engine.write("moe.py", "import up\n\n\ndef f(a, b, d):\n    up.gemm(b, a, d)\n    up.gemm(a, b, d)\n")
    assert world.told() == [("REBIND", "up.gemm", "moe.py", 6)]
    world.engine.write("moe.py", "import up\n\nup.nowhere()\n")
    assert world.told() == [("HARD", "up.nowhere", "moe.py", 3)]


def test_before_the_first_commit_of_the_consumer_nothing_is_new(world: World, make_repository: MakeRepository) -> None:
    """Nobody can say which lines came with the move: all are judged as if they had been there."""
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    world.engine = make_repository("unborn")
    world.pin(world.first)
    world.engine.write("moe.py", "import up\n\nup.mega_moe(1, situ_beta=2)\nup.nowhere()\n")
    world.engine.git("add", "-A")
    assert world.told(world.first, b) == [("HARD", "up.mega_moe", "moe.py", 3)]
    world.engine.commit("all")
    assert world.told(world.first, b) == [("HARD", "up.mega_moe", "moe.py", 3)]


def test_one_commit_is_where_it_goes(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\n")
    world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    world.up.git("tag", "v1")
    assert world.told("v1") == world.told("main") == [("HARD", "up.mega_moe", "moe.py", 3)]
    assert world.told("v1", world.first) == []


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("nowhere",), 2, "has no tag, branch or commit nowhere"),
        (("a" * 40,), 1, f"does not have {'a' * 40}"),
        (("main", "main", "main"), 2, "at most two commits"),
        (("--write-baseline",), 2, "--baseline FILE"),
        (("--baseline", "none.json"), 2, "no such file"),
        (("--baseline", "../x.json"), 2, "leaves the root"),
        (("--baseline", "pins.toml"), 2, "is no baseline"),
    ],
)
def test_what_cannot_be_done(world: World, words: tuple[str, ...], code: int, told: str) -> None:
    run = world.run(*words)
    assert run.code == code
    assert told in run.err


def test_a_pin_without_repository_or_commit(world: World) -> None:
    world.engine.write("pins.toml", 'schema = 1\n[pins.up]\npackages = ["up"]\nversion = "1"\nunused = true\n')
    assert "up has no git repository" in world.run().err
    text = f'schema = 1\n[pins.up]\nrepo = "{URL}"\ntag = "v1"\nunresolved = true\nunused = true\n'
    world.engine.write("pins.toml", text)
    run = world.run()
    assert (run.code, "bump up --resolve" in run.err) == (2, True)
    assert "there is no pin 'x'" in pinctl("contract", "x", cwd=world.engine.path).err


# --- what is accepted ---


def test_a_waiver(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\n")
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    waiver = '[[pins.up.allow]]\nreason = "moves with #7"\nsymbol = "up.mega_moe"'
    world.pin(world.first, waiver)
    run = world.run(world.first, b, "--format", "json")
    assert (run.code, run.document["findings"], run.document["result"]["breaks"]) == (0, [], [])
    (accepted,) = run.document["result"]["accepted"]
    assert (accepted["class"], accepted["symbol"], accepted["reason"]) == ("HARD", "up.mega_moe", "moves with #7")
    assert "; 1 accepted\n" in world.run(world.first, b).out
    world.pin(world.first, f'{waiver}\nuntil = "{b}"')
    assert world.told(world.first, b) == [("HARD", "up.mega_moe", "moe.py", 3)]
    world.pin(world.first, waiver.replace("mega_moe", "gemm"))
    assert world.run(world.first, b, "--format", "json").told == [("PIN401", "error"), ("PIN123", "warning")]


def test_a_baseline_file(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\n")
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    run = world.run(world.first, b, "--baseline", "known.json", "--write-baseline")
    assert run.code == 0
    assert "; 1 known\nchanged 1 file: known.json\n" in run.out
    assert world.told(world.first, b, "--baseline", "known.json") == []
    assert json.loads((world.engine.path / "known.json").read_text())["pins"] == {
        "up": [{"class": "HARD", "symbol": "up.mega_moe", "subject": "situ_beta", "file": "moe.py"}]
    }
    c = world.move({"up/mega.py": "def mega_moe(): ...\n"})
    assert world.told(world.first, c, "--baseline", "known.json") == [("HARD", "up.mega_moe", "moe.py", 3)]


# --- what is written ---


def test_what_is_used_is_required(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\nup.gemm(1, 2, d=3)\n")
    world.pin(world.first, 'requires = ["grouped_gemm"]  # not called yet')
    run = world.run("--write")
    assert (run.code, "changed 1 file: pins.toml\n" in run.out) == (0, True)
    text = (world.engine.path / "pins.toml").read_text()
    assert 'requires = ["grouped_gemm", "gemm(d)", "mega_moe(situ_beta)"]  # not called yet\n' in text
    assert "nothing to change\n" in world.run("--write").out
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    assert world.told(b) == [
        ("HARD", "up.mega_moe", "moe.py", 3), ("SILENT", "mega_moe", "pins.toml", 8),
    ]  # fmt: skip


# --- how it is told ---


def test_the_text(world: World) -> None:
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\nup.mega_moe(2, situ_beta=3)\n")
    b = world.move({"up/mega.py": MEGA.replace("situ_beta", "beta")})
    assert world.run(world.first, b).out == (
        "class  what is asked for  places  first\n"
        "HARD   up.mega_moe        2       moe.py:3\n"
        "\n"
        "moe.py:3:1: error PIN401 up: HARD, import time: the call of `up.mega_moe`: no parameter is called `situ_beta`"
        " (2 places)\n"
        "    expected  up/__init__.py:2 mega_moe(x, *, situ_beta=None, situ_linear_beta=None)\n"
        "    found     up/__init__.py:2 mega_moe(x, *, beta=None, situ_linear_beta=None)\n"
        "                                              ^~~~\n"
        "    hint      new there: `beta`\n"
        "    see       moe.py:4:1 here, too\n"
        "\n"
        "1 error in 1 file\n"
        "not seen here: nothing that was met\n"
        "never seen: computed names, attributes of returned objects, shapes, dtypes, packing, numerics, speed, which"
        " `#if` holds, and whether an external or a vendored package is loaded\n"
    )


def test_what_would_fail_in_silence(world: World) -> None:
    world.engine_has(kernels='import up\n\nimpl = getattr(up, "gemm", None)\n\n\ndef f(a):\n    return impl(a, a, a)\n')
    assert world.told() == []
    assert world.told("--lint") == [("FRAGILE", "up.gemm", "kernels.py", 3)]


def test_the_name_of_the_package_is_found_out(world: World) -> None:
    document = world.run("--format", "json").document
    assert document["result"]["import_names"] == ["up"]
    world.pin(world.first, 'import_names = ["engine.third_party.up"]')
    world.engine_has(moe="from engine.third_party.up import gone\n")
    document = world.run("--format", "json").document
    assert [b["symbol"] for b in document["result"]["breaks"]] == ["up.gone"]


def test_only_the_roots_are_looked_at(world: World) -> None:
    world.engine_has(a__x="import up\nup.gone\n", b__x="import up\nup.gone\n")
    world.pin(world.first, 'consumer_roots = ["a"]')
    document = world.run("--format", "json").document
    assert [b["file"] for b in document["result"]["breaks"]] == ["a/x.py"]


def test_a_file_that_is_no_python(world: World) -> None:
    world.engine_has(broken="import up\nup.(\n")
    run = world.run("--format", "json")
    assert (run.code, run.told) == (0, [("PIN417", "warning")])
    assert run.document["findings"][0]["file"] == "broken.py"


def test_hostile_files_on_both_sides(world: World) -> None:
    """None of them is a crash or a hang; what was not looked into is said, and the rest is judged."""
    deep, sums = (f"import up\nx = {text}\n" for text in ("(" * 5000 + "1" + ")" * 5000, "1 + " * 20_000 + "1"))
    world.engine_has(moe="import up\n\nup.mega_moe(1, situ_beta=2)\n", deep=deep, sums=sums)
    world.engine.write("latin.py", b"import up\nx = '\xff\xfe'\n")
    (world.engine.path / "loop.py").symlink_to("loop.py")
    (world.engine.path / "out.py").symlink_to("/etc/hostname")
    world.engine.commit("hostile")
    world.up.write("up/latin.py", b"x = '\xff'\n")
    (world.up.path / "up/loop.py").symlink_to("loop.py")
    (world.up.path / "csrc/environ.cpp").symlink_to("/proc/self/environ")
    world.engine.write("large.py", "import up\nup.gone()\n" + "#" * (4 << 20))
    world.engine.write(b"odd\xff.py".decode("utf-8", "surrogateescape"), "from up import mega_moe\nmega_moe(1)\n")
    world.engine.commit("more")
    b = world.move({
        "csrc/large.cpp": "// PYBIND11_MODULE(_C, m)\n" * 200_000,
        "csrc/deep.cpp": f"PYBIND11_MODULE(_D, m) {{ m.def({'{' * 100_000}",
        "up/deep.py": f"x = {'[' * 5000}",
        "up/mega.py": MEGA.replace("situ_beta", "beta"),
    })  # fmt: skip
    assert world.told(world.first, b) == [("HARD", "up.mega_moe", "moe.py", 3)]
    run = world.run(world.first, b, "--format", "json")
    assert set(run.codes) == {"PIN401", "PIN417"}
    told = " ".join(f["message"] for f in run.document["findings"])
    assert all(path in told for path in ("csrc/deep.cpp", "csrc/large.cpp", "up/deep.py"))
    unread = {f["file"] for f in run.document["findings"] if f.get("file") and f["code"] == "PIN417"}
    assert unread == {"deep.py", "large.py", "latin.py", "loop.py", "out.py", "sums.py"}


def test_what_was_read_is_remembered_until_a_file_changes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinctl.external import uses_cache

    monkeypatch.setattr(uses_cache, "_MOMENT", -1e9)  # files are as old as they need be
    world.engine_has(moe="import up\nup.gone\n")
    first = world.run("--format", "json").document["result"]
    with monkeypatch.context() as patch:
        patch.setattr("pinctl.commands.consumption.Consumer._read", None)
        assert world.run("--format", "json").document["result"] == first
    world.engine.write("moe.py", "import up\nup.lost\n")
    assert [b["symbol"] for b in world.run("--format", "json").document["result"]["breaks"]] == ["up.lost"]


def test_a_strangers_checkout_is_not_remembered(world: World, tmp_path: Path) -> None:
    world.run()  # the package is in the cache, so that nobody need be asked
    kept = sorted((tmp_path / "cache/pinctl/v1/uses-facts").glob("*"))
    policy = tmp_path / "policy.toml"
    policy.write_text('schema = 1\nhosts = ["git.example"]\n')
    world.engine_has(moe="import up\nup.gone\n")
    run = world.run("--untrusted", "--offline", "--policy", str(policy), "--format", "json")
    assert [b["symbol"] for b in run.document["result"]["breaks"]] == ["up.gone"]
    assert sorted((tmp_path / "cache/pinctl/v1/uses-facts").glob("*")) == kept
