from collections.abc import Mapping

import pytest

from pinctl.compare import Verdict
from pinctl.model import Manifest, Mode, Pin, Site
from pinctl.plan import apply
from pinctl.reconcile import Problem, Reconciliation, reconcile
from pinctl.sites import parse
from pinctl.sites.memory import Memory

OLD, NEW = "a" * 40, "b" * 40
CMAKE = f"""\
include(FetchContent)
set(_REF "{OLD}")
FetchContent_Declare(
  dg
  GIT_REPOSITORY https://github.com/o/r.git
  GIT_TAG ${{_REF}}
  GIT_SUBMODULES "cutlass" "fmt"  # both
)
FetchContent_Declare(plain GIT_REPOSITORY https://github.com/o/plain.git GIT_TAG {OLD})
file(GLOB_RECURSE _headers "${{dg_SOURCE_DIR}}/csrc/*.h")
if(ROCM)
  set(TWICE "1")
else()
  set(TWICE "2")
endif()
""".encode()


def pin(name: str = "dg", **facts: object) -> Pin:
    return Pin(
        **{"name": name, "repo": f"https://github.com/o/{'r' if name == 'dg' else name}.git", "commit": OLD, **facts}
    )  # type: ignore[arg-type]


def site(selector: str, template: str, *, file: str = "x.cmake", of: str = "dg", mode: Mode = Mode.AUTO) -> Site:
    return Site(
        file=file, selector=selector, template=template, mode=mode, pin=of, key=("pins", of, "sites", file, selector)
    )


def run(
    *pins: Pin, sites: list[Site], files: Mapping[str, bytes | Problem] | None = None, **more: object
) -> Reconciliation:
    manifest = Manifest(path="pins.toml", text="", pins={p.name: p for p in pins}, sites=tuple(sites))
    return reconcile(manifest, files or {"x.cmake": CMAKE}, **more)  # type: ignore[arg-type]


def after(seen: Reconciliation, source: bytes = CMAKE) -> bytes:
    return apply(source, seen.edits().get("x.cmake", []))


def test_a_tree_that_agrees() -> None:
    seen = run(pin(submodules=("cutlass", "fmt")), sites=[site("FetchContent(dg)", "{git}")])
    assert not seen.findings
    assert [(o.part, o.verdict) for o in seen.observations] == [
        ("repo", Verdict.SAME),
        ("ref", Verdict.SAME),
        ("submodules", Verdict.SAME),
    ]
    assert seen.edits() == {}


def test_a_bump_changes_the_value_behind_the_variable_and_nothing_else() -> None:
    seen = run(pin(commit=NEW, submodules=("cutlass", "deep_jit")), sites=[site("FetchContent(dg)", "{git}")])
    expected = CMAKE.replace(b'set(_REF "' + OLD.encode(), b'set(_REF "' + NEW.encode()).replace(
        b'"fmt"', b'"deep_jit"'
    )
    assert after(seen) == expected


def test_submodules_that_a_call_does_not_state_are_added() -> None:
    seen = run(pin("plain", submodules=()), sites=[site("FetchContent(plain)", "{git}", of="plain")])
    (observation,) = seen.differing
    assert (observation.part, observation.found) == ("submodules", None)
    assert f'GIT_TAG {OLD} GIT_SUBMODULES "")'.encode() in after(seen)


def test_undeclared_submodules_are_not_compared() -> None:
    assert not run(pin(), sites=[site("FetchContent(dg)", "{git}")]).differing


@pytest.mark.parametrize(
    ("selector", "template", "code", "says"),
    [
        ("FetchContent(dgg)", "{git}", "PIN202", "FetchContent(dg)"),
        ("set(TWICE)", "{version}", "PIN203", "set(TWICE)#1, set(TWICE)#2"),
        ("FetchContent(dg)", "{commit}", "PIN207", "{git}"),
        ("FetchContent_Declare(plain).GIT_TAG", "{submodules}", "PIN207", ""),
        ("FetchContent(dg)", "{archive}", "PIN207", ""),
    ],
)
def test_what_cannot_be_compared_is_told_with_what_to_do(selector: str, template: str, code: str, says: str) -> None:
    archive = {"url": "https://h/x.tgz", "sha256": "c" * 64}
    seen = run(pin(version="1", submodules=("a", "b"), archive=archive), sites=[site(selector, template)])
    assert {f.code for f in seen.findings} == {code}
    assert says in (seen.findings[0].hint or "")


@pytest.mark.parametrize("remembered", [False, True])
def test_a_list_that_shrank_to_one_value_grows_again(remembered: bool) -> None:
    memory = Memory()
    for source, submodules in [(b"set(L a)\n", ("a", "b")), (b"set(L a b)\n", ("a",)), (b"set(L a)\n", ("a",))]:
        for _ in range(1 + remembered):
            seen = run(
                pin(submodules=submodules), sites=[site("set(L)", "{submodules}")], files={"x.cmake": source},
                parse=memory.open if remembered else parse,
            )  # fmt: skip
        assert not seen.findings
        assert after(seen, source) == f"set(L {' '.join(submodules)})\n".encode()


def test_nth_chooses_among_several() -> None:
    seen = run(pin(version="2"), sites=[site("set(TWICE)#2", "{version}")])
    assert [o.verdict for o in seen.observations] == [Verdict.SAME]


def test_two_pins_that_equal_one_slot_clash() -> None:
    seen = run(pin(), pin("plain"), sites=[site("set(_REF)", "{commit}"), site("set(_REF)", "{commit}", of="plain")])
    assert [f.code for f in seen.findings] == ["PIN109"]


def test_one_pin_may_reach_a_slot_by_two_selectors() -> None:
    seen = run(pin(commit=NEW), sites=[site("FetchContent(dg)", "{git}"), site("set(_REF)", "{commit}")])
    assert not seen.findings
    assert after(seen).count(NEW.encode()) == 1


def test_contains_claims_of_several_pins_add_up() -> None:
    sites = [
        site(
            "file(_headers)",
            "${{dg_SOURCE_DIR}}/{include_dirs}".replace("{{", "{").replace("}}", "}"),
            mode=Mode.CONTAINS,
        ),
        site("file(_headers)", "{include_dirs}", of="plain", mode=Mode.CONTAINS),
    ]
    seen = run(pin(include_dirs=("inc/*.h",)), pin("plain", include_dirs=("p/*.h", "q/*.h")), sites=sites)
    assert not seen.findings
    assert len(seen.differing) == 2
    line = after(seen).split(b"file(")[1].split(b"\n")[0]
    assert line == b'GLOB_RECURSE _headers "${dg_SOURCE_DIR}/csrc/*.h" "${dg_SOURCE_DIR}/inc/*.h" "p/*.h" "q/*.h")'


def test_dropped_elements_go() -> None:
    where = site("file(_headers)", "{include_dirs}", mode=Mode.CONTAINS)
    seen = run(pin(include_dirs=("new/*.h",)), sites=[where], dropped={where.key: ("${dg_SOURCE_DIR}/csrc/*.h",)})
    assert b'_headers "new/*.h")' in after(seen)


def test_what_one_pin_drops_and_another_needs_stays() -> None:
    ours, theirs = (site("file(_headers)", "{include_dirs}", of=of, mode=Mode.CONTAINS) for of in ("dg", "plain"))
    seen = run(
        pin(include_dirs=("new/*.h",)),
        pin("plain", include_dirs=("${dg_SOURCE_DIR}/csrc/*.h",)),
        sites=[ours, theirs],
        dropped={ours.key: ("${dg_SOURCE_DIR}/csrc/*.h",)},
    )
    assert b'_headers "${dg_SOURCE_DIR}/csrc/*.h" "new/*.h")' in after(seen)


def test_an_unresolved_pin_agrees_by_prefix_and_is_never_written() -> None:
    short = pin(commit=None, unresolved=OLD[:7])
    assert not run(short, sites=[site("set(_REF)", "{commit}")]).differing
    other = run(pin(commit=None, unresolved="1234567"), sites=[site("set(_REF)", "{commit}")])
    assert other.differing
    assert other.edits() == {"x.cmake": []}


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_go_on() -> None:
    sites = [site("set(_REF)", "{commit}", file="gone.cmake"), site("set(_REF)", "{commit}")]
    seen = run(pin(), sites=sites, files={"gone.cmake": Problem("PIN205", "gone"), "x.cmake": CMAKE})
    assert [f.code for f in seen.findings] == ["PIN205"]
    assert [o.verdict for o in seen.observations] == [Verdict.SAME]


def test_spans_point_at_the_literal() -> None:
    (observation,) = run(pin(commit=NEW), sites=[site("set(_REF)", "{commit}")]).differing
    assert observation.span is not None
    assert (observation.span.line, observation.span.column, observation.span.end_column) == (2, 10, 52)


SHELL = f"X={OLD}\napt-get install -y a b\n".encode()
PREFIX = "regex:X=(?P<value>[0-9a-f]{10})"


@pytest.mark.parametrize("commit", [OLD, NEW])
@pytest.mark.parametrize("turned", [False, True])
def test_sites_on_bytes_that_overlap_are_refused_even_where_they_agree(commit: str, turned: bool) -> None:
    both = [site("X", "{commit}", file="x.sh"), site(PREFIX, "{commit:.10}", file="x.sh")]
    seen = run(pin(commit=commit), sites=both[::-1] if turned else both, files={"x.sh": SHELL})
    (told,) = seen.findings
    assert (told.code, told.message) == ("PIN109", f"`X` is claimed by pin `dg` too, with `{PREFIX}`")
    assert seen.edits() == {}
    assert seen.observations == []


def test_a_list_and_one_of_its_elements_are_refused() -> None:
    whole = site("apt-get install", "a b", file="x.sh", mode=Mode.CONTAINS)
    seen = run(pin(), sites=[whole, site("regex:-y (?P<value>a) b", "a", file="x.sh")], files={"x.sh": SHELL})
    assert [f.code for f in seen.findings] == ["PIN109"]


def test_sites_side_by_side_do_not_overlap() -> None:
    first, second = "regex:X=(?P<value>[ab]{10})", "regex:X=[ab]{10}(?P<value>[ab]+)"
    sites = [site(first, "b" * 10, file="x.sh"), site(second, "b" * 30, file="x.sh")]
    seen = run(pin(), sites=sites, files={"x.sh": SHELL})
    assert not seen.findings
    assert apply(SHELL, seen.edits()["x.sh"]) == SHELL.replace(OLD.encode(), b"b" * 40)
