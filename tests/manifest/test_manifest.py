"""pins.toml as a whole: what is wrong with it, each with its code, line and column; and edits of its text."""

import time
from pathlib import Path

import pytest

from pinctl import manifest
from pinctl.errors import ManifestError
from pinctl.finding import Finding, Severity, Span
from pinctl.manifest import locate, parse, position
from pinctl.model import Mode, Site, SystemPackage, Upstream

COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
OTHER = "54e2261aa540a76c1d26d6a120effb8de21eaa45"
ROOT = Path(__file__).parent.parent.parent


def wrong(text: str, **options: object) -> tuple[Finding, ...]:
    with pytest.raises(ManifestError) as raised:
        parse(text, **options)  # type: ignore[arg-type]
    return raised.value.findings


def told(text: str, **options: object) -> list[tuple[str, int, int]]:
    """Code, line and column of every problem."""
    return [(f.code, f.span.line, f.span.column) for f in wrong(text, **options) if f.span]


def pin(lines: str, *, site: str = 'sites.f.X = "{commit}"') -> str:
    """A pin `a` that is right but for `lines`, which begin in line 4."""
    return f'[pins.a]\nrepo = "https://github.com/o/a.git"\ncommit = "{COMMIT}"\n{lines}\n{site}\n'


def idle(lines: str) -> str:
    """The same pin without a site; `lines` begin in line 5 and may be tables of their own."""
    return pin("unused = true", site=lines)


FULL = f"""\
schema = 1
requires-pinctl = ">=0.1"

[contract]
consumer_roots = ["vllm", "tests"]
build_roots    = ["cmake", "setup.py"]

[pins.deepgemm]
repo       = "https://github.com/vllm-project/DeepGEMM.git"
commit     = "{COMMIT}"
track      = "dev"
upstream   = {{ repo = "https://github.com/deepseek-ai/DeepGEMM.git", track = "main" }}
version    = "2.8.0"
submodules = ["third-party/cutlass", "third-party/deep_jit"]   # [] none; absent: all
include_dirs = ["csrc"]
header_globs = ["csrc/*.hpp"]
recursive = true
facts.min_cuda = "12.8"
facts.archs = ["90a", "100f"]
archive = {{ url = "https://github.com/o/a/archive/x.tar.gz", prefix = "a-x", sha256 = "{"0" * 64}" }}
nested."third-party/cutlass" = "{OTHER}"
group = "gemm"

[pins.deepgemm.sites."cmake/deepgemm.cmake"]
"FetchContent(deepgemm)" = "{{git}}"
[pins.deepgemm.sites."./docker/Dockerfile"]
"ARG DEEPGEMM_REF"   = "{{commit:.10}}"
"build:dnf install"  = {{ contains = "{{system_packages.dnf}}" }}
"LABEL ref"          = {{ equals = "{{commit}}" }}

[pins.deepgemm.generate]
"cmake/pins.cmake" = "fetchcontent"
"tools/includes.py" = {{ recipe = "include-dirs", block = true, name = "gemm", options = {{ indent = 4 }} }}

[pins.deepgemm.system_packages]
libdw = {{ dnf = "elfutils-devel", apt = "libdw-dev", header = "elfutils/libdwfl.h", when = "build" }}

[pins.deepgemm.contract]
import_names = ["deep_gemm"]
requires     = ["mega_mhc", "fp8_fp4_mega_moe(activation_alpha)"]

[[pins.deepgemm.patches]]
file   = "patches/logits.patch"
when   = "version < 2.8"
variants = ["cu12"]
retire = "upstream"

[pins.deepgemm.wheel]
recipe   = "deepgemm"
variants = ["cu12", "cu13"]

[[pins.deepgemm.checks]]
name = "gemm"
command = "python checks/gemm.py"
needs = ["sm90"]
tolerance = 0.01

[[pins.deepgemm.bad]]
commit = "{OTHER}"
reason = "reads out of bounds"
fix = "{COMMIT}"

[[pins.deepgemm.allow]]
code = "PIN214"
path = "docs/*"
reason = "an example"

[variants.cu13]
cuda = "13.0"
image = "pytorch/manylinux2_28-builder:cuda13.0"
torch = "2.13.0"
python = ["3.10", "3.13"]
platforms = ["linux/amd64", "linux/arm64"]
arch_list = ["9.0a", "10.0f"]
packages = "dnf"
publish = "pypi"
[variants.cu12]
cuda = "12.9"
label = "cu129"
publish = "index"
env = {{ A = "1" }}

[[sites]]
file = "docker/Dockerfile"
"ARG CUDA_VERSION" = "{{variants.cu13.cuda}}"

[generate]
"docker/args.env" = "docker-args"

[languages]
"tools/*.in" = "shell"

[index]
url = "https://wheels.example.com/"
channels = ["release"]

[[allow]]
path = "vendor/**"
reason = "not ours"
"""


def test_everything_of_a_full_file_is_read() -> None:
    read = parse(FULL, recipes=["fetchcontent", "include-dirs", "deepgemm", "docker-args"])
    gemm, cu12 = read.pins["deepgemm"], read.variants["cu12"]
    assert gemm.commit == COMMIT
    assert gemm.upstream == Upstream(repo="https://github.com/deepseek-ai/DeepGEMM.git", track="main")
    assert gemm.submodules == ("third-party/cutlass", "third-party/deep_jit")
    assert (gemm.recursive, gemm.lfs) == (True, False)
    assert gemm.facts == {"min_cuda": "12.8", "archs": ("90a", "100f")}
    assert gemm.nested == {"third-party/cutlass": OTHER}
    assert gemm.archive["prefix"] == "a-x"
    managers = {"dnf": "elfutils-devel", "apt": "libdw-dev"}
    assert gemm.system_packages == (
        SystemPackage(name="libdw", managers=managers, header="elfutils/libdwfl.h", when="build"),
    )
    assert [(site.selector, site.mode) for site in gemm.sites] == [
        ("FetchContent(deepgemm)", Mode.AUTO),
        ("ARG DEEPGEMM_REF", Mode.AUTO),
        ("build:dnf install", Mode.CONTAINS),
        ("LABEL ref", Mode.EQUALS),
    ]
    assert gemm.sites[1] == Site(
        file="docker/Dockerfile",
        selector="ARG DEEPGEMM_REF",
        template="{commit:.10}",
        pin="deepgemm",
        key=("pins", "deepgemm", "sites", "./docker/Dockerfile", "ARG DEEPGEMM_REF"),
    )
    assert [(item.file, item.recipe, item.block, item.name, item.options) for item in gemm.generate] == [
        ("cmake/pins.cmake", "fetchcontent", False, "", {}),
        ("tools/includes.py", "include-dirs", True, "gemm", {"indent": 4}),
    ]
    assert gemm.contract is not None
    assert gemm.contract.requires[0] == "mega_mhc"
    assert gemm.patches[0].variants == ("cu12",)
    assert gemm.wheel is not None
    assert gemm.wheel.variants == ("cu12", "cu13")
    assert (gemm.checks[0].timeout, gemm.checks[0].tolerance) == (600, 0.01)
    assert gemm.bad[0].commit == OTHER
    assert gemm.allow[0].key == ("pins", "deepgemm", "allow", 0)
    assert (cu12.label, cu12.python, cu12.env) == ("cu129", (), {"A": "1"})
    assert [(site.pin, site.key) for site in read.sites] == [(None, ("sites", 0, "ARG CUDA_VERSION"))]
    assert [item.key for item in read.generate] == [("generate", "docker/args.env")]
    assert read.contract is not None
    assert read.contract.build_roots == ("cmake", "setup.py")
    assert read.languages == {"tools/*.in": "shell"}
    assert read.index["channels"] == ["release"]
    assert read.allow[0].reason == "not ours"
    assert (read.text, read.path) == (FULL, "pins.toml")


def test_the_pins_of_this_repository_are_right() -> None:
    read = parse((ROOT / "pins.toml").read_text(encoding="utf-8"))
    assert {"deepgemm", "cutlass", "flashmla", "tilelang", "apache-tvm-ffi", "sgl-deep-gemm"} <= set(read.pins)


@pytest.mark.parametrize("text", ["", "schema = 1\n", "\ufeffschema = 1\n", "# nothing yet\r\n"])
def test_an_empty_file_has_no_pins(text: str) -> None:
    assert parse(text).pins == {}


# One problem each, with its place. Where the key is missing, its table is the place.
ONE = [
    # structure
    (pin('comit = "x"'), "PIN102", 4, 1),
    (pin("version = 2.8"), "PIN103", 4, 1),
    (pin('submodules = ["a", "a"]'), "PIN103", 4, 20),
    (pin("facts.token_count = 1.5"), "PIN103", 4, 7),
    (idle("[[pins.a.patches]]"), "PIN103", 5, 10),
    ('[[sites]]\n"ARG X" = "1"\n', "PIN104", 1, 3),
    # commits
    (pin("").replace(COMMIT, "ad1f172"), "PIN105", 3, 1),
    (pin("").replace(COMMIT, COMMIT + "0"), "PIN105", 3, 1),
    (pin("").replace(COMMIT, "main"), "PIN106", 3, 1),
    (pin("").replace(COMMIT, COMMIT.upper()), "PIN106", 3, 1),
    (pin("").replace(COMMIT, COMMIT + "\\n"), "PIN106", 3, 1),
    (pin("").replace(COMMIT, "--output=/x"), "PIN106", 3, 1),
    (pin('nested.cutlass = "v3.5"'), "PIN106", 4, 8),
    (idle('[[pins.a.bad]]\nreason = "x"\ncommit = "ad1f172"'), "PIN105", 7, 1),
    (idle('[[pins.a.allow]]\nreason = "x"\ncode = "PIN214"\nuntil = "next"'), "PIN106", 8, 1),
    # URLs
    (pin("").replace("https://", "http://"), "PIN107", 2, 1),
    (pin("").replace("https://github.com/o/a.git", "ext::sh -c true"), "PIN107", 2, 1),
    (pin("").replace("https://github.com/o/a.git", "--upload-pack=c;"), "PIN107", 2, 1),
    (pin("").replace("github.com/o", "github.com/$TOKEN"), "PIN107", 2, 1),
    (pin('upstream = { repo = "file:///r" }'), "PIN107", 4, 14),
    (pin('archive.url = "http://example.com/a.tgz"'), "PIN107", 4, 9),
    ('[index]\nurl = "ftp://example.com/"\n', "PIN107", 2, 1),
    # paths
    (pin("", site='sites."/x".X = "{commit}"'), "PIN108", 5, 7),
    (pin("", site='sites."../x".X = "{commit}"'), "PIN108", 5, 7),
    (pin("", site='sites."a/.GIT/hooks/pre-commit".X = "{commit}"'), "PIN108", 5, 7),
    (pin("", site='generate."a\\\\b" = "x"'), "PIN108", 5, 10),
    (pin('submodules = ["ok", "-x"]'), "PIN108", 4, 21),
    (pin('include_dirs = ["../include"]'), "PIN108", 4, 17),
    (idle('[[pins.a.patches]]\nfile = "/p"'), "PIN108", 6, 1),
    (pin('contract.consumer_roots = ["/"]'), "PIN108", 4, 28),
    (idle('[pins.a.wheel]\nrecipe = "../x.j2"'), "PIN108", 6, 1),
    (idle('[pins.a.wheel]\nrecipe = "wheel"\nlock = "/locks/{variant}.txt"'), "PIN108", 7, 1),
    (idle('[pins.a.wheel]\nrecipe = "wheel"\nrequires = ["a @ https://h.io/a.whl"]'), "PIN103", 7, 13),
    (idle('[pins.a.wheel]\nrecipe = "wheel"\nexclude = [{ reason = "none" }]'), "PIN104", 7, 12),
    (idle('[pins.a.wheel]\nrecipe = "wheel"\nexclude = [{ variant = "cu9", reason = "old" }]'), "PIN114", 7, 14),
    (idle('[pins.a.wheel]\nrecipe = "wheel"\nenv = { API_TOKEN = "x" }'), "PIN119", 7, 9),
    ('[variants.cu13]\nindex_url = "http://i.example/cu130"\n', "PIN107", 2, 1),
    ('[variants.cu13]\nmanylinux = "manylinux2014"\n', "PIN103", 2, 1),
    ('extends = "/etc/passwd"\n', "PIN108", 1, 1),
    ('[[sites]]\nfile = ".git/config"\nX = "1"\n', "PIN108", 2, 1),
    ('[[sites]]\nfile = "a\\u0000b"\nX = "1"\n', "PIN108", 2, 1),
    # sources
    ("[pins.a]\nunused = true\n", "PIN104", 1, 7),
    ('[pins.a]\nversion = "13.0.3"\nunused = true\n', "PIN104", 1, 7),
    ("[pins.a]\nunresolved = true\nunused = true\n", "PIN104", 1, 7),
    ('[pins.a]\nversion = "13.0.3"\nunresolved = "ad1f172"\nunused = true\n', "PIN104", 1, 7),
    (pin("").replace("commit =", "track ="), "PIN104", 1, 7),
    ('[pins.a]\npackages = ["a"]\nunused = true\n', "PIN104", 1, 7),
    ('[pins.a]\nurl = "https://example.com/a.tgz"\nunused = true\n', "PIN104", 1, 7),
    ('[pins.a]\nimage = "a:1"\nunused = true\n', "PIN104", 1, 7),
    ('[pins.a]\npackages = ["a"]\nversion = "1"\nunused = true\nsubmodules = []\n', "PIN104", 5, 1),
    (pin(f'sha256 = "{"0" * 64}"'), "PIN104", 4, 1),
    (pin(f'image = "a:1"\ndigest = "sha256:{"0" * 64}"'), "PIN103", 4, 1),
    ('[pins.a]\npackages = ["a"]\nversion = "main"\nunused = true\n', "PIN103", 3, 1),
    ('[pins.a]\nrepo = "https://h.io/a"\nunresolved = true\nunused = true\n', "PIN104", 3, 1),
    (pin('unresolved = "54e2261"'), "PIN103", 4, 1),
    ('[pins.a]\nurl = "https://h.io/{version}"\nunresolved = true\nunused = true\n', "PIN112", 2, 1),
    ('[pins.a]\nurl = "https://h.io/{vers}"\nunresolved = true\nunused = true\n', "PIN110", 2, 1),
    # sites
    (pin("", site=""), "PIN113", 1, 7),
    (pin("", site='sites.f.X = "{comit}"'), "PIN110", 5, 9),
    (pin("", site='sites.f.X = "{commit:base64}"'), "PIN111", 5, 9),
    (pin("", site='sites.f.X = "{commit"'), "PIN111", 5, 9),
    (pin("", site='sites.f.X = "{submodules}"'), "PIN112", 5, 9),
    (pin("", site='sites.f.X = "{pins.b.commit}"'), "PIN114", 5, 9),
    (pin("", site='sites.f.X = "{variants.cu13.cuda}"'), "PIN114", 5, 9),
    (pin("", site='sites.f."A B" = "1"\nsites."./f"."A  B" = "1"'), "PIN109", 6, 13),
    (pin("", site='sites.CMake."call( a )" = "{git}"\nsites.CMake."call(a)" = "{git}"'), "PIN109", 6, 13),
    (pin("") + '[[sites]]\nfile = "f"\nX = "1"\n', "PIN109", 8, 1),
    (pin("", site='generate.f = "x"\nsites.f.X = "1"'), "PIN109", 6, 9),
    (pin("", site='sites."./pins.toml"."pins.a.commit" = "{commit}"'), "PIN109", 5, 21),
    (pin("", site='sites."Pins.toml"."pins.a.commit" = "{commit}"'), "PIN109", 5, 19),
    (pin("", site='generate."pins.toml" = { recipe = "x", block = true }'), "PIN109", 5, 10),
    (pin("", site='generate.f = "x"') + '[generate]\nf = "y"\n', "PIN109", 7, 1),
    (pin("", site='generate.f = [{ recipe = "x", block = true }, { recipe = "x", block = true }]'), "PIN109", 5, 47),
    (pin("", site='generate."a.json" = { recipe = "x", block = true }'), "PIN103", 5, 10),
    (pin('track = "dev"', site='sites.Dockerfile."ARG X" = "{track}"'), "PIN223", 5, 18),
    (pin('track = "dev"', site='sites.Dockerfile."build:ENV X" = "{pins.a.track}"'), "PIN223", 5, 18),
    # references
    (pin('wheel = { recipe = "x", variants = ["cu13"] }'), "PIN114", 4, 37),
    (idle('[[pins.a.patches]]\nfile = "p"\nvariants = ["cu13"]'), "PIN114", 7, 13),
    # patches
    (idle('[[pins.a.patches]]\nfile = "p"\nwhen = "2.8"'), "PIN103", 7, 1),
    (idle('[[pins.a.patches]]\nfile = "p"\nwhen = "version <2.8"'), "PIN104", 7, 1),
    (idle('version = "main"\n[[pins.a.patches]]\nfile = "p"\nwhen = "version <2.8"'), "PIN103", 8, 1),
    (idle('[[pins.a.patches]]\nfile = "p"\nsupersedes = ["q", "p"]'), "PIN103", 7, 20),
    (idle('[[pins.a.patches]]\ntarget = "t"\nsearch = "s"\nreplace = "s"'), "PIN103", 8, 1),
    (idle('[[pins.a.patches]]\ntarget = "../t"\nsearch = "s"\nreplace = "r"'), "PIN108", 6, 1),
    (idle('[[pins.a.patches]]\nfile = "p"\nbackport = "abc1234"'), "PIN105", 7, 1),
    (pin('needs = { b = ">=1" }'), "PIN114", 4, 11),
    ('[[allow]]\ncode = "PIN999"\nreason = "x"\n', "PIN114", 2, 1),
    ('[[allow]]\nreason = "x"\n', "PIN104", 1, 3),
    (pin('system_packages.dw = { header = "dw.h" }'), "PIN104", 4, 17),
    # versions
    ('requires-pinctl = ">=99"\nnews = 1\n', "PIN115", 1, 1),
    ("schema = 2\nnews = 1\n", "PIN115", 1, 1),
    ('requires-pinctl = "new"\n', "PIN103", 1, 1),
    (pin('needs = { b = "newest" }') + '[pins.b]\npackages = ["b"]\nversion = "1"\nunused = true\n', "PIN103", 4, 11),
    (pin('needs = { b-b = ">1" }') + idle("").replace("pins.a", "pins.b-b"), "PIN120", 4, 11),
    (pin('needs = { b = "{nested:x}" }') + '[pins.b]\npackages = ["b"]\nversion = "1"\nunused=true\n', "PIN120", 4, 11),
    (pin('needs = { a = "{nested:../x}" }'), "PIN112", 4, 11),
    (pin('needs = { a = "{nested}" }'), "PIN103", 4, 11),
    (pin('needs = { a = ">=1" }'), "PIN103", 4, 11),
    ('[pins.a]\npackages = ["a"]\nversion = "1"\ntrack = "1"\nunused = true\n', "PIN103", 4, 1),
    (pin('version = "1"\nbad = [{ version = "1", reason = "hangs" }]'), "PIN122", 4, 1),
    (pin(f'bad = [{{ commit = "{COMMIT}", reason = "hangs" }}]'), "PIN122", 3, 1),
    # credentials
    (pin("").replace("https://", "https://x:SENTINEL@"), "PIN119", 2, 1),
    (pin("").replace("https://", "ssh://git:SENTINEL@"), "PIN119", 2, 1),
    (pin("", site='sites.f.X = "https://SENTINEL@h/{commit}"'), "PIN119", 5, 9),
    (pin('facts.hf_token = "SENTINEL"'), "PIN119", 4, 7),
    (pin("", site='sites.Dockerfile."ARG GITHUB_TOKEN" = "SENTINEL"'), "PIN119", 5, 18),
    (pin("", site='sites.Dockerfile."build:ENV DB_PASSWORD" = "SENTINEL"'), "PIN119", 5, 18),
    ('[variants.v]\nenv = { API_KEY = "SENTINEL" }\n', "PIN119", 2, 9),
    # variants
    ('[variants.a]\npublish = "pypi"\n[variants.b]\npublish = "pypi"\n', "PIN103", 4, 1),
    ('[variants.a]\npublish = "pypi"\nlabel = "cu13"\n', "PIN103", 3, 1),
    ('[variants.a]\npublish = "index"\nlabel = "x"\n[variants.b]\npublish = "index"\nlabel = "x"\n', "PIN103", 6, 1),
    # TOML
    ("a = 1\n\nb = [\n", "PIN101", 4, 1),
    ("a = 1\na = 2\n", "PIN101", 2, 6),
    ("é = 1\n", "PIN101", 1, 1),
    ("x = 'a\x00'\n", "PIN101", 1, 7),
    ("x = '\udc80'\n", "PIN101", 1, 1),
    # bounds
    ("x = " + "[" * 10_000, "PIN117", 1, 1),
    ("x = " + "9" * 5_000, "PIN117", 1, 1),
    ("\nx = 0x" + "f" * 100_000, "PIN117", 2, 1),
    ("x = 9223372036854775808", "PIN117", 1, 1),
    ("x = '" + "a" * 5_000 + "'", "PIN117", 1, 1),
    ("\n" + "a." * 60_000 + "a = 1", "PIN117", 2, 1),
    ("#" * (256 * 1024 + 1), "PIN117", 1, 1),
    ("a.b.c.d.e.f.g.h.i.j = 1", "PIN117", 1, 17),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "column"), ONE)
def test_one_problem(text: str, code: str, line: int, column: int) -> None:
    assert told(text) == [(code, line, column)]


RIGHT = [
    pin(""),
    pin('unresolved = "ad1f172"'),
    pin("tag = 'v1'\nunresolved = true"),
    '[pins.a]\nrepo = "https://h.io/a"\ntag = "v1"\nunresolved = true\nunused = true\n',
    '[pins.a]\nrepo = "https://h.io/a"\nunresolved = "ad1f172"\nsites.f.X = "{commit}"\n',
    '[pins.a]\nrepo = "git@github.com:o/a.git"\nversion = "0.6.16"\npackages = ["a", "b"]\nsites.f.X = "{version}"\n',
    '[pins.a]\nrepo = "ssh://alice@h.io/a"\ntag = "v1"\nunresolved = true\nsites.f.X = "{tag}"\n',
    '[pins.a]\npackages = ["a"]\nversion = "1!2.0rc1.post2.dev3+l"\nsites.f.X = "{version}"\n',
    '[pins.a]\nversion = "13.0.3"\nunresolved = true\nsites.f.X = "{version}"\n',
    '[pins.a]\nurl = "https://h.io/a-{version}.tgz"\nversion = "1"\nunresolved = true\nunused = true\n',
    f'[pins.a]\nurl = "https://h.io/{{tag}}-{{commit}}"\ntag = "v1"\ncommit = "{COMMIT}"\n'
    f'sha256 = "{"0" * 64}"\nunused = true\n',
    f'[pins.a]\nimage = "h.io:5000/a:1"\ndigest = "sha256:{"0" * 64}"\nunused = true\n',
    f'[pins.a]\nimage = "a:1@sha256:{"0" * 64}"\nunused = true\n',
    pin("", site='sites.".gitmodules"."submodule.x.url" = "{repo}"'),
    pin("", site='sites.".github/workflows/ci.yml".X = "${{ {commit} }}"').replace("{{", "").replace("}}", ""),
    pin('generate.f = "./pins/x.j2"', site=""),
    pin('track = "dev"', site='sites."a.cmake"."set(BRANCH)" = "{track}"\nsites.f.X = "{commit}"'),
    pin("", site='sites.Dockerfile."ARG TOKENIZERS_VERSION" = "{commit}"'),
    pin("", site='sites.Dockerfile."ARG MAX_TOKENS" = "{commit}"'),
    pin('facts.track = "x"', site='sites.Dockerfile."ARG X" = "{facts.track}"'),
    pin("", site="") + '[[sites]]\nfile = "f"\nX = "{pins.a.commit}"\n',
    pin('needs = { b = ">=1.0" }') + '[pins.b]\npackages = ["b"]\nversion = "1"\nunused = true\n',
    pin('needs = { b = ">=1.0,<2" }') + '[pins.b]\npackages = ["b"]\nversion = "1.5rc1"\nunused = true\n',
    '[variants.a]\npublish = "pypi"\n[variants.b]\npublish = "index"\nlabel = "x"\n',
    '[variants.a]\nplatforms = ["linux/amd64"]\nlabel = "x"\npublish = "index"\n'
    '[variants.b]\nplatforms = ["linux/arm64"]\nlabel = "x"\npublish = "index"\n',
    'requires-pinctl = ">=0.0.1,<99"\n',
]


@pytest.mark.parametrize("text", RIGHT)
def test_right(text: str) -> None:
    parse(text)


def test_a_list_that_holds_more_may_be_filled_by_several_pins_and_by_no_other_way() -> None:
    shared = pin("", site='sites.f."apt-get install" = { contains = "{commit}" }')
    second = shared.replace("pins.a", "pins.b")
    assert [site.mode for site in parse(shared + second).all_sites] == [Mode.CONTAINS, Mode.CONTAINS]
    assert told(shared + second.replace("contains", "equals")) == [("PIN109", 10, 9)]
    assert told(shared.replace("contains", "equals") + second) == [("PIN109", 10, 9)]


def test_all_problems_come_at_once_and_in_the_order_of_the_file() -> None:
    text = (
        "schema = 1\n"
        "[pins.a]\n"
        'repo = "https://x:SENTINEL@github.com/o/a"\n'
        'comit = "main"\n'
        "sites.f.X = 1\n"
        "[pins.b]\n"
        'commit = "ad1f172"\n'
        "submodules = 'x'\n"
        '[variants.v]\ncuda = "13"\n'
        'sits = "x"\n'
    )
    assert told(text) == [
        ("PIN119", 3, 1),
        ("PIN102", 4, 1),
        ("PIN103", 5, 9),
        ("PIN104", 6, 7),
        ("PIN113", 6, 7),
        ("PIN104", 7, 1),
        ("PIN105", 7, 1),
        ("PIN103", 8, 1),
        ("PIN103", 10, 1),
        ("PIN102", 11, 1),
    ]
    assert [f.pin for f in wrong(text)] == ["a", "a", "a", "b", "b", "b", "b", "b", None, None]


def test_no_finding_repeats_a_secret() -> None:
    secret = "S3NTINEL"
    places = [
        pin("").replace("https://", f"https://x:{secret}@"),
        pin(f'image = "https://u:{secret}@h/i"'),
        pin("", site=f'sites.f."git clone https://u:{secret}@h/r" = "{{commit"'),
        pin("", site=f'sites.f.X = "https://u:{secret}@h/{{nothing}}"'),
        pin(f'facts.api_key = "{secret}"'),
        pin(f'"https://u:{secret}@h" = 1'),
        f'[[sites]]\nfile = "f"\nX = "https://h/?token={secret}"\n',
    ]
    for text in places:
        found = wrong(text)
        assert "PIN119" in [f.code for f in found], text
        assert secret not in repr(found)


def test_a_finding_says_what_was_found_where_and_what_mends_it() -> None:
    (found,) = wrong(pin("").replace(COMMIT, "ad1f172"))
    assert found.message == "`pins.a.commit`: ad1f172 abbreviates a commit id, and may come to name another"
    assert found.hint == ('write the full id; or `unresolved = "ad1f172"`, and run: pinctl bump --resolve')
    assert (found.file, found.pin, found.severity) == ("pins.toml", "a", Severity.ERROR)
    assert found.span == Span(line=3, column=1, end_line=3, end_column=7)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (pin("submodule = []"), "did you mean `submodules`?"),
        (pin("").replace(COMMIT, COMMIT.upper()), f"write {COMMIT}"),
        (pin("", site=""), 'add [pins.a.sites."FILE"] with a selector; or `unused = true`'),
        (pin('needs.tilelan = ">=1"') + '[pins.tilelang]\npackages = ["tilelang"]\nversion = "1"\nunused = true\n',
         "did you mean `tilelang`?"),
        (pin('needs.tile-lng = ">=1"') + '[pins.x]\npackages = ["tile-lang"]\nversion = "1"\nunused = true\n',
         "did you mean `tile-lang`?"),
        (pin('track = "dev"', site='sites.Dockerfile."ARG X" = "{track}"'), 'give it the commit: "{commit}"'),
        ('[variants.a]\npublish = "pypi"\nlabel = "x"\n', 'drop the label, or publish to the index: publish = "index"'),
    ],
)  # fmt: skip
def test_hints(text: str, hint: str) -> None:
    assert [found.hint for found in wrong(text)] == [hint]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (pin("", site='sites.f.X = "1"\nsites."./f".X = "2"'), 5),
        (pin("", site='generate.f = "x"\nsites.f.X = "1"'), 5),
        (pin('version = "1"\nbad = [{ version = "1", reason = "hangs" }]'), 5),
        ('[variants.a]\npublish = "pypi"\n[variants.b]\npublish = "pypi"\n', 2),
    ],
)
def test_the_second_place_is_told(text: str, line: int) -> None:
    (found,) = wrong(text)
    assert [(at.file, at.span and at.span.line, at.message) for at in found.related] == [
        ("pins.toml", line, "the other place")
    ]


@pytest.mark.parametrize(
    "text",
    [
        pin("").replace("commit =", "comit ="),  # not also: no commit, and a template that needs it
        pin("", site='sits.f.X = "{commit}"'),  # not also: no site
        pin("", site='site.f.X = "{commit}"'),
        pin("").replace("repo =", "rep ="),  # not also: no source, a commit of nothing
        pin("version = 2", site='sites.f.X = "{version}"'),  # not also: no version
        pin("unused = 'yes'", site=""),
        '[variants.v]\ncudda = "12.9"\n[[sites]]\nfile = "f"\nX = "{variants.v.cuda}"\n',
    ],
)
def test_one_slip_is_one_problem(text: str) -> None:
    assert len(wrong(text)) == 1


def test_recipes_are_held_against_the_bundled_ones() -> None:
    text = pin('wheel = { recipe = "deepgem" }', site='generate.f = "fetchcontents"\ngenerate.g = "./my/x.j2"')
    assert parse(text).pins["a"].generate[1].recipe == "./my/x.j2"
    found = wrong(text, recipes=["fetchcontent", "deepgemm"])
    assert [(f.code, f.span and f.span.line, f.hint) for f in found] == [
        ("PIN114", 4, "did you mean `deepgemm`?"),
        ("PIN114", 5, "did you mean `fetchcontent`?"),
    ]


def test_transports_beyond_https_and_ssh_are_let_in_by_name() -> None:
    text = pin("").replace("https://github.com/o/a.git", "file:///srv/git/a")
    assert told(text) == [("PIN107", 2, 1)]
    assert parse(text, transports=("https", "ssh", "file")).pins["a"].repo == "file:///srv/git/a"


# --------------------------------------------------------------------------------------------------- extends


def files(**texts: str) -> object:
    return {f"{name}.toml": text for name, text in texts.items()}.__getitem__


BASE = pin('version = "1"') + 'variants.v = { cuda = "12.9" }\n'.replace("variants.v =", "[variants]\nv =")


def test_a_file_extends_another_and_wins() -> None:
    ours = 'extends = "base.toml"\n[pins.a]\nversion = "2"\nsites.g.Y = "{version}"\n[variants.v]\nlabel = "x"\n'
    read = parse(ours, load=files(base=BASE))
    a = read.pins["a"]
    assert (a.version, a.commit, {site.file for site in a.sites}) == ("2", COMMIT, {"f", "g"})
    assert (read.variants["v"].cuda, read.variants["v"].label) == ("12.9", "x")
    assert read.bases == (("base.toml", BASE),)
    assert locate(read, ("pins", "a", "version")).file == "pins.toml"
    where = locate(read, ("pins", "a", "commit"))
    assert (where.file, where.span and where.span.line) == ("base.toml", 3)


def test_a_problem_is_told_where_it_stands() -> None:
    ours = 'extends = "base.toml"\n[pins.a]\ntag = ":"\n'
    found = wrong(ours, load=files(base=BASE.replace('version = "1"', "version = 1")))
    places = [(f.file, f.span and f.span.line, f.code) for f in found]
    assert places == [("pins.toml", 3, "PIN103"), ("base.toml", 4, "PIN103")]


def test_a_chain_of_files() -> None:
    read = parse('extends = "b.toml"\n', load=files(b='extends = "c.toml"\n', c=pin("")))
    assert [path for path, _ in read.bases] == ["b.toml", "c.toml"]
    assert list(read.pins) == ["a"]


def missing(path: str) -> str:
    raise ManifestError(wrong("a =", path=path))


@pytest.mark.parametrize(
    ("ours", "load", "file", "code"),
    [
        ('extends = "pins.toml"', None, "pins.toml", "PIN103"),
        ('extends = "./b.toml"', files(**{"./b": 'extends = "pins.toml"'}), "b.toml", "PIN103"),
        ('extends = "../b.toml"', None, "pins.toml", "PIN108"),
        ('extends = "b.toml"', None, "pins.toml", "PIN205"),
        ('extends = "b.toml"', missing, "b.toml", "PIN101"),
        ('extends = "b.toml"', files(b="x ="), "b.toml", "PIN101"),
        ('extends = "0"', lambda path: f'extends = "{int(path) + 1}"', "6", "PIN117"),
        ("extends = 1", None, "pins.toml", "PIN103"),
    ],
)
def test_what_cannot_be_extended(ours: str, load: object, file: str, code: str) -> None:
    assert [(f.file, f.code) for f in wrong(ours, load=load)] == [(file, code)]


# ------------------------------------------------------------------------------------------- positions, remarks


@pytest.mark.parametrize(
    ("key", "span"),
    [
        (("pins", "a"), (1, 7)),
        (("pins", "a", "submodules"), (2, 1)),
        (("pins", "a", "submodules", 1), (2, 20)),
        (("pins", "a", "sites", "ü/b.sh", "X"), (3, 16)),
        (("pins", "a", "nothing"), (1, 7)),
        ((), (1, 1)),
    ],
)
def test_position(key: tuple[str | int, ...], span: tuple[int, int]) -> None:
    text = '[pins.a]\r\nsubmodules = ["a", "b"]\r\nsites."ü/b.sh".X = "1"\r\n'
    found = position(text, key)
    assert (found.line, found.column) == span


def test_remarks() -> None:
    text = (
        '[pins.a]\nrepo = "https://h.io/a"\nunused = true\nunresolved = "ad1f172"\n'
        '[pins.b]\nrepo = "https://h.io/b"\nunused = true\nunresolved = true\ntag = "v1"\n'
        f'[pins.c]\nrepo = "https://h.io/c"\nunused = true\ncommit = "{COMMIT}"\n'
        f'allow = [{{ reason = "x", code = "PIN214", until = "{COMMIT}" }}]\n'
        f'[[allow]]\nreason = "y"\npath = "z"\nuntil = "{OTHER}"\n'
        f'[[allow]]\nreason = "y"\npath = "z"\nuntil = "{COMMIT}"\n'
    )
    found = manifest.remarks(parse(text))
    assert [(f.code, f.span and f.span.line, f.severity) for f in found] == [
        ("PIN121", 4, Severity.INFO),
        ("PIN121", 8, Severity.INFO),
        ("PIN123", 14, Severity.WARNING),
        ("PIN123", 19, Severity.WARNING),
    ]
    assert [f.message for f in found][:2] == [
        "a is known by the short id ad1f172 only",
        "b is known by the tag v1 only",
    ]


# -------------------------------------------------------------------------------------------------- hostile text


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"k{n} = 1\n" for n in range(25_000)),
        "[pins.a]\n" + "".join(f"k{n} = 1\n" for n in range(25_000)),
        "".join(f"[pins.a{n}]\n" for n in range(15_000)),
        "".join(f"[a{n}." + "a." * 190 + "a]\n" for n in range(600)),
        "".join(f"x{n} = '" + "https://a:" * 400 + "'\n" for n in range(64)),
        pin("", site="[pins.a.sites.f]") + "".join(f"k{n} = '{{x{n}}}'\n" for n in range(12_000)),
        idle("[pins.a.needs]") + "".join(f"p{n} = '>=1'\n" for n in range(20_000)),
        "[pins.a]\nsubmodules = [" + "'a'," * 50_000 + "]",
    ],
    ids=range(8),
)
def test_a_hostile_file_is_refused_in_seconds(text: str) -> None:
    start = time.process_time()
    assert 1 <= len(wrong(text)) <= 201
    assert time.process_time() - start < 10


def test_where_there_are_too_many_problems_the_file_says_so() -> None:
    found = wrong("".join(f"k{n} = 1\n" for n in range(300)))
    assert len(found) == 201
    assert "more problems than these 200" in " ".join(f.message for f in found)


def test_a_file_that_is_extended_is_no_site() -> None:
    text = 'extends = "base/pins.toml"\n' + pin("", site='sites."base/pins.toml".X = "{commit}"')
    with pytest.raises(ManifestError) as caught:
        parse(text, load=lambda _: "")
    assert [f.code for f in caught.value.findings] == ["PIN109"]
    assert "base/pins.toml says what the sites hold" in caught.value.findings[0].message


def test_a_group_is_at_one_version() -> None:
    def pins(*versions: str) -> str:
        keys = ("version", "version", "tag")
        heads = ('packages = ["a"]', 'packages = ["b"]', f'repo = "https://h.io/c"\ncommit = "{COMMIT}"')
        return "".join(f'[pins.{name}]\n{head}\n{key} = "{version}"\ngroup = "g"\nunused = true\n'
                       for name, head, key, version in zip("abc", heads, keys, versions, strict=True))  # fmt: skip

    assert manifest.remarks(parse(pins("1.0", "1.0.0", "v1.0"))) == []
    assert manifest.remarks(parse(pins("1.0", "1.0", "nightly"))) == []
    found = manifest.remarks(parse(pins("1.0", "1.0.post1", "v1.1")))
    assert [(f.code, f.span and f.span.line, f.severity) for f in found] == [
        ("PIN124", 8, Severity.ERROR),
        ("PIN124", 14, Severity.ERROR),
    ]
    assert found[0].message == "b is at 1.0.post1, and a, of the same group, at 1.0"
    other = pins("1.0", "1.0", "v1.1").replace('"g"\nunused = true\n[pins.c]', '"h"\nunused = true\n[pins.c]')
    assert [f.code for f in manifest.remarks(parse(other))] == ["PIN124"]


def test_the_platforms_of_a_url() -> None:
    text = '[pins.a]\nurl = "https://h.io/a-{platform}"\nsha256 = SHA\nunused = true\n'
    assert parse(text.replace("SHA", f'{{ x = "{"a" * 64}" }}')).pins["a"].sha256 == {"x": "a" * 64}
    with pytest.raises(ManifestError) as caught:
        parse(text.replace("SHA", f'"{"a" * 64}"'))
    assert [(f.code, f.span and f.span.line) for f in caught.value.findings] == [("PIN112", 2)]
