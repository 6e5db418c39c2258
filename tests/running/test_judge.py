"""Environments against pins: what is told, and what is not."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pinctl.model import Contract, Manifest, Pin, Variant, Wheel
from pinctl.running import caches, pairing, reading, shown, trials
from pinctl.running.judge import Wanted, judge
from pinctl.running.model import Environment, Installed
from pinctl.running.trials import Trial
from pinctl.wheel.provenance import PatchDigest, Provenance

COMMIT, OTHER = "a1" * 20, "b2" * 20
CONTRACT = Contract(import_names=("deep_gemm", "vllm.third_party.deep_gemm"), requires=("a", "f(x, y)"))
DG = Pin(name="deepgemm", repo="https://h/dg.git", commit=COMMIT, version="2.8.0", wheel=Wheel("deepgemm"),
         contract=CONTRACT)  # fmt: skip
TL = Pin(name="tl", packages=("tilelang",), version="0.1.11")
FI = Pin(name="fi", packages=("flashinfer-python", "flashinfer-cubin"), version="0.6.16")
CU12 = Variant(name="cu12", cuda="12.9", torch="2.9.1")
MANIFEST = Manifest(path="pins.toml", text="", pins={"deepgemm": DG, "tl": TL}, variants={"cu12": CU12})
BUILT = Provenance(pin="deepgemm", commit=COMMIT, variant="cu12", cuda="12.9", torch="2.9.1+cu129")
TORCH = Installed("torch", "2.9.1+cu129", "/s/torch-2.9.1.dist-info", imports=("torch",))


def dg(**changes: Any) -> Installed:
    made = Installed("deep_gemm", "2.8.0+cu129", "/s/deep_gemm-2.8.0.dist-info", BUILT, imports=("deep_gemm",))
    return made._replace(**changes)


def told(*installed: Installed, pins: tuple[Pin, ...] = (DG,), cuda: str | None = "12.9", **wanted: Any) -> list[Any]:
    found = Environment("/e", "3.12", installed, cuda)
    return [(f.code, str(f.severity), f.expected, f.found) for f in judge(found, Wanted(MANIFEST, pins, **wanted))]


def test_all_as_it_must_be() -> None:
    needed = {"deep_gemm/_C.so": ("libcudart.so.12", "libc.so.6")}
    tilelang = Installed("tilelang", "0.1.11", "/s/t")
    assert told(dg(needed=needed), TORCH, tilelang, pins=(DG, TL), variant=CU12) == []


def test_what_is_not_there() -> None:
    assert told(pins=(DG, TL)) == [("PIN810", "warning", None, None)] * 2
    assert told(pins=(TL,), needed=("tl",)) == [("PIN810", "error", None, None)]
    half = Installed("flashinfer_python", "0.6.16", "/s/f")
    (missing,) = judge(Environment("/e", "3.12", (half,)), Wanted(MANIFEST, (FI,)))
    assert missing.message == "flashinfer-cubin is not installed in /e"
    assert missing.hint == "run: pip install flashinfer-cubin==0.6.16"


def test_a_vendored_pin_is_no_distribution() -> None:
    pin = Pin(name="v", repo="https://h/v.git", commit=COMMIT, contract=Contract(import_names=("vllm.third_party.v",)))
    assert told(pins=(pin,)) == []


def test_other_versions_and_builds() -> None:
    assert told(dg(version="2.7")) == [("PIN811", "error", "2.8.0", "2.7")]
    assert told(dg(provenance=BUILT._replace(commit=OTHER))) == [("PIN812", "error", COMMIT, OTHER)]
    patched = BUILT._replace(patches=(PatchDigest("p.patch", "0"),))
    assert told(dg(provenance=patched)) == [("PIN812", "error", "none", "p.patch")]
    cu13 = BUILT._replace(variant="cu13", cuda="13.0")
    assert [t[0] for t in told(dg(provenance=cu13), variant=CU12)] == ["PIN812", "PIN812"]
    assert [t[0] for t in told(dg(provenance="it is no JSON"))] == ["PIN812"]


def test_without_provenance_pip_tells_or_nothing_does() -> None:
    assert told(dg(provenance=None)) == [("PIN813", "info", None, None)]
    assert told(dg(provenance=None, commit=COMMIT)) == []
    assert told(dg(provenance=None, commit=OTHER)) == [("PIN812", "error", COMMIT, OTHER)]


def test_another_cuda_or_torch() -> None:
    needed = {"deep_gemm/_C.so": ("libcudart.so.13", "libnvrtc.so.13", "libcusparse.so.12")}
    assert told(dg(needed=needed), TORCH) == [("PIN814", "error", "CUDA 12.9", "libcudart.so.13, libnvrtc.so.13")]
    assert told(dg(needed=needed), cuda=None) == [], "without torch nothing says which CUDA is right"
    torch = TORCH._replace(version="2.13.0+cu130")
    assert told(dg(), torch) == [("PIN815", "error", "2.9.1", "2.13.0+cu130")]
    assert told(torch, pins=(), cuda="13.0", variant=CU12) == [
        ("PIN815", "error", "2.9.1", "2.13.0+cu130"), ("PIN814", "error", "CUDA 12.9", "CUDA 13.0")]  # fmt: skip
    assert told(TORCH, pins=(), cuda="", variant=CU12) == [("PIN814", "error", "CUDA 12.9", "none")]


def test_two_distributions_for_one_name() -> None:
    other = Installed("sgl-deep-gemm", "2.6", "/s/sgl", imports=("deep_gemm",))
    found = list(judge(Environment("/e", "3.12", (dg(), other), None), Wanted(MANIFEST, (DG,))))
    assert [f.code for f in found] == ["PIN816"]
    assert found[0].message == "deep_gemm 2.8.0+cu129 and sgl-deep-gemm 2.6 both bring deep_gemm"
    copies = list(judge(Environment("/e", "3.12", (dg(), dg(place="/u/x")), None), Wanted(MANIFEST, (DG,))))
    assert [f.code for f in copies] == ["PIN816"]
    assert "2.8.0+cu129 in /s/deep_gemm-2.8.0.dist-info and 2.8.0+cu129 in /u/x" in copies[0].message


def test_two_environments_of_an_image_are_not_two_copies() -> None:
    found = Environment("i", "", (dg(), dg(place="/u/x")), None, joined=False)
    assert list(judge(found, Wanted(MANIFEST, (DG,)))) == []


def test_what_was_not_looked_into() -> None:
    assert told(dg(unread=("a.so cannot be read: it is cut off",))) == [("PIN822", "warning", None, None)]


def test_a_pin_is_known_by_provenance_name_or_import() -> None:
    other_name = dg(name="my-gemm")
    by_import = dg(name="sgl-deep-gemm", provenance=None)
    for one in (other_name, by_import, dg(name="DeepGEMM", provenance=None)):
        assert pairing.found(DG, Environment("/e", "3", (one, TORCH))) == (one,)
    assert pairing.found(DG, Environment("/e", "3", (TORCH,))) == ()
    assert not pairing.is_python(Pin(name="cutlass", repo="https://h/c.git", commit=COMMIT))


def test_what_is_shown() -> None:
    found = Environment("/e", "3.12", (dg(), TORCH), "12.9")
    assert list(shown.rows(found, (DG, TL))) == [
        ("deepgemm", "deep_gemm 2.8.0+cu129", "2.8.0", COMMIT[:12], "cu12"),
        ("tl", "-", "0.1.11", "-", "-"),
    ]
    said = shown.plain(found, (DG,))
    assert said["torch"] == {"version": "2.9.1+cu129", "cuda": "12.9"}
    assert said["installed"] == [{"pin": "deepgemm", "name": "deep_gemm", "version": "2.8.0+cu129", "commit": COMMIT,
                                  "place": "/s/deep_gemm-2.8.0.dist-info", "variant": "cu12", "key": None}]  # fmt: skip


# --- imports ---


def tried(*done: Trial, installed: bool = True) -> list[tuple[str, str, str]]:
    found = trials.judge(DG, done, installed=installed, commands=["c"] * len(done), timeout=60)
    return [(f.code, str(f.severity), f.message) for f in found]


ABSENT = "ModuleNotFoundError: No module named 'deep_gemm'"


def test_how_imports_end() -> None:
    assert tried(Trial("deep_gemm")) == []
    assert tried(Trial("deep_gemm", absent=ABSENT), Trial("v.deep_gemm")) == [], "one of the names is enough"
    assert tried(Trial("deep_gemm", absent=ABSENT)) == [
        ("PIN817", "error", f"deep_gemm cannot be imported: {ABSENT}")]  # fmt: skip
    assert tried(Trial("deep_gemm", absent=ABSENT), installed=False) == [], "PIN810 has said it"
    assert [t[:2] for t in tried(Trial("v.dg", absent=ABSENT), installed=False)] == [("PIN817", "warning")]
    assert tried(Trial("deep_gemm", error="ImportError: \x1b[31mx")) == [
        ("PIN817", "error", "deep_gemm cannot be imported: ImportError:  [31mx")]  # fmt: skip
    assert tried(Trial("deep_gemm", hung=True)) == [("PIN819", "error", "import deep_gemm took longer than 60 s")]
    assert tried(Trial("deep_gemm", ended="was ended by SIGSEGV", log="a\nb\nc\nd\n")) == [
        ("PIN818", "error", "import deep_gemm: the process was ended by SIGSEGV\n  b\n  c\n  d")]  # fmt: skip
    assert tried(Trial("deep_gemm", missing=(("f(x, y)", "takes no y"),))) == [
        ("PIN820", "error", "deep_gemm: f(x, y) takes no y")]  # fmt: skip


def test_what_is_asked_of_an_import() -> None:
    assert trials.names(DG) == ("deep_gemm", "vllm.third_party.deep_gemm")
    assert trials.asked(DG) == [("a", "a", ()), ("f(x, y)", "f", ("x", "y"))]
    assert trials.names(DG._replace(contract=None, wheel=Wheel("wheel", imports=("k",)))) == ("k",)


# --- texts ---


def test_caches_are_where_their_libraries_say() -> None:
    assert list(caches.of("deep-gemm", {}, "/h")) == [("DeepGEMM", "/h/.deep_gemm")]
    assert list(caches.of("deepgemm", {"DG_JIT_CACHE_DIR": "/x/"}, "/h")) == [("DeepGEMM", "/x")]
    assert list(caches.of("flashinfer-python", {"FLASHINFER_WORKSPACE_BASE": "/w"}, "/h")) == [
        ("FlashInfer", "/w/.cache/flashinfer")]  # fmt: skip
    assert list(caches.of("triton", {"TRITON_HOME": "/t"}, "/h")) == [("Triton", "/t/.triton/cache")]
    assert list(caches.of("torch", {}, "/h")) == []


def test_the_cuda_of_torch() -> None:
    assert reading.torch_cuda("cuda: Optional[str] = '12.9'\nhip = None\n") == "12.9"
    assert reading.torch_cuda('cuda = "13.0"\n') == "13.0"
    assert reading.torch_cuda("__all__ = ['cuda']\ncuda: Optional[str] = None\n") == ""
    assert reading.torch_cuda("x") is reading.torch_cuda(None) is None


def test_hostile_texts_of_an_installation() -> None:
    assert reading.commit("[" * 10_000) == reading.commit("[]") == reading.commit('{"vcs_info": 1}') == ""
    assert reading.commit('{"vcs_info": {"commit_id": "main"}}') == ""
    assert reading.provenance("[]") == "it is no object of schema 1 with a pin"
    assert reading.modules(["a.py", "b.cpython-312.so", "c", "d-1.dist-info", "__pycache__", "..", "e.pth"]) == (
        "a", "b", "c")  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["vcs_info", "commit_id", "x"]), inner),
    max_leaves=6,
)


@given(JSON | st.just({"vcs_info": {"commit_id": COMMIT}}))
def test_no_direct_url_crashes_it(said: object) -> None:
    assert reading.commit(json.dumps(said)) in ("", COMMIT)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_no_text_of_an_installation_crashes_it(text: str) -> None:
    reading.torch_cuda(text)
    reading.commit(text)
    assert isinstance(reading.provenance(text), str | Provenance)
    assert all(name.isidentifier() for name in reading.modules(text.split()))
