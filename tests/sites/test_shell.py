"""Shell sites: what is a slot, what a write changes, and what bash makes of it."""

import shutil
import subprocess
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinctl.plan import apply
from pinctl.sites import find, shell, shell_text, shell_words
from pinctl.sites.base import BadSelector, Slot, Unparsable, Unwritable, Value, write


def read(source: str | bytes) -> list[tuple[str, Value]]:
    """The canonical selector and value of every slot."""
    document = shell.parse(source if isinstance(source, bytes) else source.encode())
    return [(slot.selector, slot.value) for slot in document.slots()]


def one(source: bytes, selector: str) -> Slot:
    """The one slot that `selector` names."""
    [[slot]] = find(shell.parse(source), selector)
    return slot


def written(source: bytes, selector: str, value: Value) -> bytes:
    """The file with the slot holding `value`, which is read back from it."""
    after = write(shell.parse(source), one(source, selector), value)
    assert one(after, selector).value == value
    return after


SHELLS = {name: path for name in ("bash", "dash", "sh") if (path := shutil.which(name))}


def run(script: bytes, program: str = "bash") -> bytes:
    """What a script prints; no program is in its reach."""
    done = subprocess.run(
        [SHELLS[program]], input=script, capture_output=True, check=True, timeout=20, env={"PATH": "/nowhere"}
    )
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("source", "slots"),
    [
        ('A="x"\n', [("A", "x")]),
        ("export B='y' C=z\n", [("B", "y"), ("C", "z")]),
        ("readonly D=1\ndeclare -r E=2\nlocal F=3\ntypeset G=4", [("D", "1"), ("E", "2"), ("F", "3"), ("G", "4")]),
        ("A=\"a\"'b'c\\ d\n", [("A", "abc d")]),
        ("A=$'a\\tb\\x41\\101\\u00e9\\'q'\n", [("A", "a\tbAAé'q")]),
        ("A=a\\\nb c\n", []),
        ("x a\\\nb \\\nc\\\r\nd e\\\\\ny z\n", [("x 1", "ab"), ("x 2", "cd"), ("x 3", "e\\"), ("y 1", "z")]),
        ("X=(a\\\nb c)\n", [("X[]", ("ab", "c"))]),
        ('A="a\\\nb"\n', [("A", "ab")]),
        ('A="two\nlines"', [("A", "two\nlines")]),
        ("A=\nB= true\n", [("A", ""), ("B", "")]),
        ('A=""\n', [("A", "")]),
        ("A=1 B=2\n", [("A", "1"), ("B", "2")]),
        ("A=1 make B=2\n", [("A", "1"), ("make 1", "B=2")]),
        ("# A=1\necho x # B=2\n", [("echo 1", "x")]),
        ("cat <<EOF\nA=1\ngit checkout ${X:-abc}\nEOF\nB=2\n", [("B", "2")]),
        ("cat <<-'EOF' >f\n\tA=1\n\tEOF\nB=2\n", [("B", "2")]),
        ('A="$2"\nB=$(date)\nC=`date`\nD=$((1+2))\nE="x$F"\n', []),
        ("A=~/x\nB=x:~/y\n", []),
        ("A=*.whl\nB={a,b}\n", [("A", "*.whl"), ("B", "{a,b}")]),
        ("A=a#b\n", [("A", "a#b")]),
        ("A+=x\nA[1]=y\n", []),
        ("for ((i=0; i<3; i++)); do W=1; done\n", [("W", "1")]),
        ("if a; then Z=1; else Z=2; fi\n", [("Z", "1"), ("Z", "2")]),
        ("x && A=1 || B=2; { C=3; }; (D=4)\n", [("A", "1"), ("B", "2"), ("C", "3"), ("D", "4")]),
        ("case $x in a) A=1 ;; *) B=2 ;; esac\n", [("A", "1"), ("B", "2")]),
        ("f() { local a=1; }\n", [("a", "1")]),
        ("é=1\nN='é ü'\n", [("N", "é ü")]),
        ("X=(a 'b c' \"d\") # e\n", [("X[]", ("a", "b c", "d"))]),
        ("X=()\nX+=(\n  a   # why\n  # and\n  b\n)\n", [("X[]", ()), ("X[]", ("a", "b"))]),
        ('X=(a "$b" c)\n', [("X[]", ("a", '"$b"', "c"))]),
        ("declare -A M=([k]=v [z]=w)\n", []),
        ("do_build 1 \"$X\" 'abc' -f\n", [("do_build 1", "1"), ("do_build 3", "abc")]),
        ("sudo -E -u me FOO=1 do_build 1\n", [("do_build 1", "1")]),
        ("./x.sh 13.0 {a,b} *.c foo[1]\n", [("./x.sh 1", "13.0"), ("./x.sh 4", "foo[1]")]),
        ("echo `do_build 1`\n", []),
        ('echo "$(do_build \'a\' "b")"\n', [("do_build 1", "a"), ("do_build 2", "b")]),
    ],
)
def test_literals(source: str, slots: list[tuple[str, Value]]) -> None:
    assert read(source) == slots


@pytest.mark.parametrize(
    ("source", "names", "value"),
    [
        ('X=${X:-"a b"}\n', ("X:-", "X"), "a b"),
        ('X="${X:-abc}"\n', ("X:-", "X"), "abc"),
        ("X=${X-abc}\n", ("X:-", "X"), "abc"),
        ("Y=${X:-abc}\n", ("X:-",), "abc"),
        ("echo ${X:-'a b'}\n", ("X:-",), "a b"),
        (': "${X:=abc}"\n', ("X:-", "X"), "abc"),
        ('V="${1:-1.2}"\n', ("1:-",), "1.2"),
        ('V="${X:-"a b"}"\n', ("X:-",), "a b"),
        ('V="${X:-a\\"b\\}c}"\n', ("X:-",), 'a"b}c'),
        ('V="${A:-${B:-x}}"\n', ("B:-",), "x"),
        ('V="${X:-9.0a;10.0 (x)}"\n', ("X:-",), "9.0a;10.0 (x)"),
        ("git checkout ${REF:-main}\n", ("REF:-", "git checkout"), "main"),
        ('git checkout "${1:-main}"\n', ("1:-", "git checkout"), "main"),
    ],
)
def test_defaults(source: str, names: tuple[str, ...], value: str) -> None:
    [slot] = shell.parse(source.encode()).slots()
    assert (slot.names, slot.value) == (names, value)


@pytest.mark.parametrize(
    "source", ["X=${X:-}", 'X="${X:-$Y}"', "X=${X:+a}", "X=${X#a}", "X=\"${X:-'q'}\"", "X=${X:-a b}"]
)
def test_no_defaults(source: str) -> None:
    assert read(source) == []


@pytest.mark.parametrize(
    ("source", "slots"),
    [
        (
            "git clone --depth 1 -b v1 https://h/x.git d\n",
            {"git clone": ["https://h/x.git"], "git clone --branch": ["v1"]},
        ),
        ("git -C d clone --branch=v1 'https://h/x'\n", {"git clone": ["https://h/x"], "git clone --branch": ["v1"]}),
        ("git -c a=b checkout -q 0123abc\n", {"git checkout": ["0123abc"]}),
        ("git checkout -b work v1.2\n", {"git checkout": ["v1.2"]}),
        ("git checkout -- file\ngit checkout FETCH_HEAD\ngit checkout .\n", {"git checkout": []}),
        ('R="https://h/x"\ngit clone "$R"\n', {"git clone": ["https://h/x"], "R": ["https://h/x"]}),
        ('REF="abc"\nwhile x; do REF="$2"; done\ngit checkout "${REF}"\n', {"git checkout": ["abc"], "REF": ["abc"]}),
        ("REF=a\nREF=b\ngit checkout $REF\n", {"git checkout": ["a", "b"]}),
        ('D=abc\nREF="${REF:-$D}"\ngit checkout $REF\n', {"git checkout": ["abc"]}),
        ("A=x\nB=$A\nC=${B}\ngit checkout $C\n", {"git checkout": ["x"], "A": ["x"]}),
        ('R=""\nR="${R:-abc}"\ngit checkout "$R"\n', {"git checkout": ["abc"]}),
        ('git checkout "v$REF"\nREF=1\n', {"git checkout": []}),
        (
            "sudo git checkout abc && /usr/bin/git clone https://h/x\n",
            {"git checkout": ["abc"], "git clone": ["https://h/x"]},
        ),
        (
            "pip install a==1 'b[x, y]==2' \"c == 3 ; python_version < '3.9'\" d\n",
            {"pip install a": ["1"], "pip install b": ["2"], "pip install c": ["3"]},
        ),
        (
            "uv pip install --system Foo_Bar==1.2\n",
            {"pip install foo-bar": ["1.2"], "requirement foo.bar": ["1.2"], "pip install Foo_Bar": ["1.2"]},
        ),
        ('"$PY" -m pip install x==1 -i https://h\n', {"pip install x": ["1"]}),
        ('${VENV}/bin/pip3.12 install torch=="2.1"\n', {"pip install torch": ["2.1"]}),
        ("pip download x==1\n", {"requirement x": ["1"], "pip install x": []}),
        ("V=2.8\npip install x==$V 'y'==\"${V}\"\n", {"pip install x": ["2.8"], "V": ["2.8"]}),
        (
            "pip install 'x>=1,<2' 'y @ https://h/y.whl' z==1.*\n",
            {"specifier x": [">=1,<2"], "url y": ["https://h/y.whl"], "pip install z": []},
        ),
        ("pip uninstall x==1\n", {"pip install x": []}),
        (
            "pip install git+https://h/o/Some_Lib.git@v1.2 'git+https://h/o/r@v2#egg=other' git+https://h/o/$X@v3\n",
            {
                "url some-lib": ["git+https://h/o/Some_Lib.git@v1.2"],
                "url other": ["git+https://h/o/r@v2#egg=other"],
                "url r": [],
            },
        ),
    ],
)
def test_commands(source: str, slots: dict[str, list[str]]) -> None:
    document = shell.parse(source.encode())
    assert {s: [slot.value for [slot] in find(document, s)] for s in slots} == slots


@pytest.mark.parametrize(
    "other",
    [
        "V+=b", "V=b cmd; V+=c", "read -r V", "IFS= read -p 'which?' W V", "printf -v V x", "unset V", "let V=1",
        "let V++", "((V++))", "(( V = 3 ))", "W=$((V += 2))", "for V in b c; do :; done", "select V in b; do :; done",
        "getopts a V", "for ((V=0; V<2; V++)); do :; done", "mapfile V", "V=$(date)", "V=v$W", "V=$UNKNOWN",
        'V="${1:-b}"',
        "f() { local V=b; }", "f() { local V; V=b; }", "(V=b)", "W=$(V=b)", "V=b | cat",
    ],
)  # fmt: skip
def test_a_variable_that_something_else_sets_is_not_followed(other: str) -> None:
    use = 'git checkout "$V"\n'
    assert [s.value for [s] in find(shell.parse(b"V=a\n" + use.encode()), "git checkout")] == ["a"]
    for source in (f"V=a\n{other}\n{use}", f"V=a\n{use}{other}\n"):
        document = shell.parse(source.encode())
        assert find(document, "git checkout") == []
        assert find(document, "V")[0][0].value == "a"


@pytest.mark.parametrize(
    ("source", "refs"),
    [
        ("V=b cmd\ngit checkout $V", []),
        ("V=a\nV=b cmd\ngit checkout $V", ["a"]),
        ("git checkout $V\nV=a", []),
        ("(V=a; git checkout $V)", ["a"]),
        ("f() { local V=a; git checkout $V; }", ["a"]),
        ("f() { local V; V=a; git checkout $V; }", ["a"]),
        ("f() { local V=a; }\ng() { git checkout $V; }", []),
        ("V=a\nf() { local V=$1; git checkout $V; }", []),
        ("V=a\nf() { local W=$V; git checkout $W; }", ["a"]),
        ("V=a\nexport V\nprintf '%s' V\n[[ $V == b ]]\ngit checkout $V", ["a"]),
        ('V=a\nwhile :; do case $1 in -r) V=$2;; --r=*) V="${1#--r=}";; esac; done\ngit checkout $V', ["a"]),
        ("V=a\nV=b\nW=$V\ngit checkout $W", ["a", "b"]),
        ("".join(f"V{n}=$V{n + 1}\n" for n in range(20)) + "V20=a\ngit checkout $V0", []),
    ],
)
def test_a_variable_is_followed_to_what_it_holds_there(source: str, refs: list[str]) -> None:
    assert [slot.value for [slot] in find(shell.parse(source.encode()), "git checkout")] == refs


@pytest.mark.parametrize(
    ("source", "selector", "packages"),
    [
        ("dnf install -y a b\n", "dnf install", ("a", "b")),
        ("sudo dnf -y install --setopt x=y --enablerepo crb a\n", "dnf install", ("a",)),
        (
            "apt-get update && apt-get install -y --no-install-recommends \\\n    a \\\n    b=1.2 \\\n  && x\n",
            "apt-get install",
            ("a", "b=1.2"),
        ),
        ("DEBIAN_FRONTEND=x apt-get -t bookworm install -qq a\n", "apt-get install", ("a",)),
        ("apt install a python${V} $B 'c'\n", "apt install", ("a", "python${V}", "$B", "c")),
        ("apk add --no-cache -t .deps a\n", "apk add", ("a",)),
        ("yum install a >/dev/null b 2>&1\n", "yum install", ("a", "b")),
        ("microdnf install -y -- a\n", "microdnf install", ("a",)),
        ("if ! dnf install a; then x; fi\n", "dnf install", ("a",)),
        ("dnf install a\r\n", "dnf install", ("a",)),
        ("dnf install a \\\r\n  b\r\n", "dnf install", ("a", "b")),
    ],
)
def test_packages(source: str, selector: str, packages: tuple[str, ...]) -> None:
    slot = one(source.encode(), selector)
    assert (slot.value, slot.many, slot.ordered) == (packages, True, False)


def test_no_packages() -> None:
    assert read("dnf remove a\napt-get install $X\n# dnf install a\ndnf install -y\n") == [
        ("dnf 1", "remove"),
        ("dnf 2", "a"),
    ]


def test_the_list_that_holds_a_package() -> None:
    document = shell.parse(b"apt-get install a b=1\napt-get install c 'perl(X)'\n")
    assert [slot.value for [slot] in find(document, "apt-get install(b)")] == [("a", "b=1")]
    assert [slot.value for [slot] in find(document, "apt-get install(perl(X))")] == [("c", "perl(X)")]
    assert find(document, "apt-get install(d)") == []
    assert find(document, "dnf install(a)") == []
    assert len(find(document, "apt-get install")) == 2


@pytest.mark.parametrize(
    "selector", ["NOPE", "NOPE:-", "NOPE[]", "git clone", "pip install x", "x 3", "specifier x", "apk add(x)"]
)
def test_selectors_that_find_nothing(selector: str) -> None:
    assert find(shell.parse(b"A=1\n"), selector) == []


@pytest.mark.parametrize(
    "selector", ["", "A B", "FetchContent(x)", "git pull", "pip install", "/a/b", "x 0", "A:", "pip install a==1"]
)
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(BadSelector):
        find(shell.parse(b"A=1\n"), selector)


@pytest.mark.parametrize(
    ("before", "selector", "value", "after"),
    [
        (b'A="x" # c\n', "A", "y", b'A="y" # c\n'),
        (b"A=x", "A", "y", b"A=y"),
        (b"A=x\r\nB=y\r\n", "A", "z", b"A=z\r\nB=y\r\n"),
        (b"A=x\n", "A", "a b", b'A="a b"\n'),
        (b"A=x\n", "A", "$(id)", b"A='$(id)'\n"),
        (b"A='x'\n", "A", "it's", b'A="it\'s"\n'),
        (b'A="x"\n', "A", '$X`"\\', b'A="\\$X\\`\\"\\\\"\n'),
        (b"A=\n", "A", "x", b"A=x\n"),
        (b"A=x\n", "A", "", b'A=""\n'),
        (b"A=\"a\"'b'\n", "A", "c", b'A="c"\n'),
        (b"A=$'a'\n", "A", "b", b"A=$'b'\n"),
        (b"A=${A:-x}\n", "A", "a}b", b'A=${A:-"a}b"}\n'),
        (b'A="${A:-x}"\n', "A", "a}$b", b'A="${A:-a\\}\\$b}"\n'),
        (b'A="${A:-"x"}"\n', "A", "y", b'A="${A:-"y"}"\n'),
        (
            b"pip install 'a[b]==1 ; x' c\n",
            "pip install a",
            "2.0.post1+cu12",
            b"pip install 'a[b]==2.0.post1+cu12 ; x' c\n",
        ),
        (b"git clone -b v1 https://h/x\n", "git clone --branch", "v2", b"git clone -b v2 https://h/x\n"),
        (b"git clone --branch=v1 https://h/x\n", "git clone --branch", "v2", b"git clone --branch=v2 https://h/x\n"),
        ("N='é' # ü\nA=é\n".encode(), "A", "ö", "N='é' # ü\nA=\"ö\"\n".encode()),
        (b"dnf install -y a b\n", "dnf install", ("a", "c", "b"), b"dnf install -y a c b\n"),
        (b"dnf install -y a b\n", "dnf install", ("b",), b"dnf install -y b\n"),
        (b"dnf install -y a\n", "dnf install", ("z",), b"dnf install -y z\n"),
        (b"dnf install -y 'a' 'b'\n", "dnf install", ("a", "b", "c"), b"dnf install -y 'a' 'b' 'c'\n"),
        (
            b"dnf install \\\n  -y \\\n  a && x\n",
            "dnf install",
            ("a", "b"),
            b"dnf install \\\n  -y \\\n  a \\\n  b && x\n",
        ),
        (b"dnf install \\\n  a \\\n  b\nx\n", "dnf install", ("a",), b"dnf install \\\n  a\nx\n"),
        (b"dnf install \\\n  a b \\\n  c\nx\n", "dnf install", ("b", "c"), b"dnf install \\\n  b \\\n  c\nx\n"),
        (b"dnf install a -q b c\n", "dnf install", ("c",), b"dnf install -q c\n"),
        (b"dnf install a $X b\n", "dnf install", ("a", "$X"), b"dnf install a $X\n"),
        (b"dnf install 'a' $X\n", "dnf install", ("a", "$X", "b"), b"dnf install 'a' $X 'b'\n"),
        (b"dnf install $X a\n", "dnf install", ("z", "$X", "b"), b"dnf install z $X b\n"),
        (b"dnf install a >f b\n", "dnf install", ("a",), b"dnf install a >f\n"),
        (b"X=(a b)\n", "X[]", ("b",), b"X=(b)\n"),
        (b"X=(a b)\n", "X[]", (), b"X=()\n"),
        (b"X=()\n", "X[]", ("a", "b c"), b'X=(a "b c")\n'),
        (b"X=(a)\n", "X[]", ("z", "a"), b"X=(z a)\n"),
        (b"X=(\n  a  # of a\n  b\n)\n", "X[]", ("a", "c", "b"), b"X=(\n  a  # of a\n  c\n  b\n)\n"),
        (b"X=(\n  a\n  b  # of b\n)\n", "X[]", ("a", "b", "c"), b"X=(\n  a\n  b  # of b\n  c\n)\n"),
        (b"X=(\n  a  # of a\n  b\n)\n", "X[]", ("a",), b"X=(\n  a  # of a\n)\n"),
        (b"X=(\n  a\n  b  # of b\n  c\n)\n", "X[]", ("a", "c"), b"X=(\n  a\n  # of b\n  c\n)\n"),
        (b"X=(\n  # top\n  a\n  b\n)\n", "X[]", ("b",), b"X=(\n  # top\n  b\n)\n"),
        (b"X=(\n  # top\n  a b)\n", "X[]", ("b",), b"X=(\n  # top\n  b)\n"),
        (b"X=(a # of a\n  b)\n", "X[]", ("a",), b"X=(a # of a\n  )\n"),
        (b'X=("$@")\n', "X[]", ('"$@"', "a"), b'X=("$@" a)\n'),
        (b"X=(a $x b)\n", "X[]", ("c", "$x"), b"X=(c $x)\n"),
        (b"X=( # none\n)\n", "X[]", ("a",), b"X=(a # none\n)\n"),
    ],
)
def test_a_write_changes_nothing_else(before: bytes, selector: str, value: Value, after: bytes) -> None:
    assert written(before, selector, value) == after


@pytest.mark.parametrize(
    ("source", "selector", "value"),
    [
        (b"A=x\n", "A", "two\nlines"),
        (b"A=x\n", "A", "\x1b[0m"),
        (b"A=x\n", "A", "\udc80"),
        (b'A="${A:-x}"\n', "A", "it's"),
        (b'A="${A:-x}"\n', "A", ""),
        (b"dnf install a\n", "dnf install", ("-oDpkg::Pre-Invoke::=id",)),
        (b"dnf install a\n", "dnf install", ()),
        (b"dnf install a\n", "dnf install", ("",)),
        (b"git checkout abc\n", "git checkout", "--orphan"),
        (b"git checkout abc\n", "git checkout", "HEAD"),
        (b"git clone https://h/x\n", "git clone", "--upload-pack=id"),
        (b"pip install a==1\n", "pip install a", "1 ; rm -rf /"),
        (b"pip install a==1\n", "pip install a", "1' 'b"),
        (b"A=x\n", "A", ("x", "y")),
        (b"X=(a $x)\n", "X[]", ("a",)),
        (b"X=(a $x)\n", "X[]", ("a", "b")),
        (b"X=(a $x)\n", "X[]", ("$x", "a", "$x")),
        (b"X=(a $x)\n", "X[]", ()),
        (b"dnf install -y a $X\n", "dnf install", ("a",)),
    ],
)
def test_refused(source: bytes, selector: str, value: Value) -> None:
    with pytest.raises(Unwritable):
        write(shell.parse(source), one(source, selector), value)


def test_what_does_not_parse_gives_no_slot() -> None:
    source = b"A=1\nf() {\n  B=2\n  )\n}\nC=3\n"
    document = shell.parse(source)
    assert document.errors
    for slot in document.slots():
        assert all(slot.end <= start or end <= slot.start for start, end in document.errors if end > start)
    assert ("A", "1") in read(source)


@pytest.mark.parametrize(
    "source",
    [
        'A="${A:-a;b;c}"\nB=2\n',
        "f() {\n  echo``\n  B=2\n}\n",
        "if a; then if b; then B=2; fi fi\n",
        "for a in 1; do while x; do B=2; done done\n",
    ],
)
def test_what_the_grammar_stumbles_over(source: str) -> None:
    document = shell.parse(source.encode())
    assert document.errors == ()
    assert [slot.value for [slot] in find(document, "B")] == ["2"]


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12) | st.text(
    "ab 1.$`'\"\\{}()~*?;&|<>!#=-", max_size=12
)
FRAMES = [
    ("X={}\n", "X"),
    ("X='{}'\n", "X"),
    ('X="{}"\n', "X"),
    ("export Y=1 X={}; Z=2\n", "X"),
    ("X=$'{}'\n", "X"),
    ("X=\"a\"'{}'\n", "X"),
    ("unset X; X=${{X:-{}}}\n", "X"),
    ('unset X; X="${{X:-{}}}"\n', "X"),
    ("unset X; : ${{X:='{}'}}\n", "X"),
    ("f() {{ X=$1; }}; f {}\n", "f 1"),
    ("f() {{ X=$2; }}; f -q '{}' z\n", "f 2"),
    ("if true; then X={}; fi\n", "X"),
]
AROUND = st.lists(
    st.sampled_from(["# X=no 'quote\n", 'W="é"\n', "\n", "v() { local w; }\n", "cat <<E >/dev/null\nX=no\nE\n"]),
    max_size=3,
)


@given(TEXTS, st.sampled_from(FRAMES), AROUND, AROUND)
@example("$(exit 3)", FRAMES[2], [], [])
@example("a}b", FRAMES[7], [], [])
@example("'", FRAMES[1], [], [])
def test_bash_reads_what_was_written(value: str, frame: tuple[str, str], before: list[str], after: list[str]) -> None:
    cat = "cat() { :; }\n"
    head, tail = cat + "".join(before), "".join(after) + 'printf "%s" "$X"\n'
    source = (head + frame[0].format("old") + tail).encode()
    document, slot = shell.parse(source), one(source, frame[1])
    try:
        edits = document.edits(slot, value)
    except Unwritable:
        return
    result = apply(source, edits)
    [edit] = edits or [None]
    if edit is not None:
        assert (edit.start, edit.end) == (slot.start, slot.end)
        assert result[: slot.start] == source[: slot.start]
        assert result.endswith(source[slot.end :])
    assert one(result, frame[1]).value == value
    assert run(result) == value.encode()


@pytest.mark.parametrize("program", ["dash", "sh"])
def test_other_shells_read_what_was_written(program: str) -> None:
    if program not in SHELLS:
        pytest.skip(f"no {program} here")
    script, expected = b"", []
    for value in ["a}b", "a$b`c\\d", 'a"b', "a b;c|d", "it's", "~", "$(exit 3)", "é", "a'\"$\\"]:
        for frame, selector in FRAMES:
            source = frame.format("old").encode()
            try:
                result = write(shell.parse(source), one(source, selector), value)
            except Unwritable:
                continue
            if b"$'" not in result:  # POSIX has it since 2024 only
                script += result + b'printf "%s\\n" "$X"\n'
                expected.append(value)
    assert len(expected) > 90
    assert run(script, program).decode().splitlines() == expected


WORDS = st.lists(TEXTS.filter(lambda v: v and not v.startswith("-")), min_size=1, max_size=6, unique=True)
GAPS = st.sampled_from([" ", "  ", " \\\n    ", " \\\n", "\t"])
ARRAY_GAPS = st.sampled_from([" ", "\n  ", "  # it's\n  ", "\n  # a (b\n\n  "])


@given(
    WORDS,
    WORDS,
    st.lists(GAPS, min_size=8, max_size=8),
    st.sampled_from(["", "-y", '"$N"', "-t x"]),
    st.sampled_from(["\n", " && :\n", "; :\n", " \\\n && :\n"]),
)
def test_bash_installs_what_was_written(
    old: list[str], new: list[str], gaps: list[str], option: str, tail: str
) -> None:
    words = [shell_words.quote(w, "bare").decode() for w in old]
    middle = len(words) // 2
    listed = [*words[:middle], *([option] if option else []), *words[middle:]]
    command = "apt-get install" + "".join(gap + word for gap, word in zip(gaps, listed, strict=False))
    source = ('apt-get() { for x in "$@"; do printf "%s\\n" "$x"; done; }\nN=-n\n' + command + tail + "Z=1\n").encode()
    slot = one(source, "apt-get install")
    wanted = new
    if option == '"$N"':
        # It counts as an element, and is never moved or taken out.
        old, wanted = [*old[:middle], option, *old[middle:]], [option, *new]
    assert slot.value == tuple(old)
    try:
        result = write(shell.parse(source), slot, tuple(wanted))
    except Unwritable:
        assert option == '"$N"'
        return
    assert one(result, "apt-get install").value == tuple(wanted)
    printed = run(result).decode().split("\n")[1:-1]
    kept = {"": [], "-y": ["-y"], '"$N"': ["-n"], "-t x": ["-t", "x"]}[option]
    for word in kept:
        printed.remove(word)
    assert printed == new
    assert result.endswith(tail.encode() + b"Z=1\n")


@given(
    WORDS,
    st.lists(TEXTS, max_size=6, unique=True),
    st.lists(ARRAY_GAPS, min_size=7, max_size=7),
    st.sampled_from(["", "\n", "  # end\n", " "]),
    st.booleans(),
)
def test_bash_holds_the_array_that_was_written(
    old: list[str], new: list[str], gaps: list[str], tail: str, lead: bool
) -> None:
    words = [shell_words.quote(w, "bare").decode() for w in old]
    body = (
        ("\n  # first\n  " if lead else "") + words[0] + "".join(g + w for g, w in zip(gaps, words[1:], strict=False))
    )
    source = f'X=({body}{tail})\nprintf "<%s>\\n" "${{X[@]}}"\n'.encode()
    slot = one(source, "X[]")
    assert slot.value == tuple(old)
    result = write(shell.parse(source), slot, tuple(new))
    assert one(result, "X[]").value == tuple(new)
    assert run(result).decode() == "".join(f"<{w}>\n" for w in new) or (not new and run(result) == b"<>\n")
    for comment in ("# first", "# end"):
        assert result.count(comment.encode()) == source.count(comment.encode())


PIECES = [
    "a",
    "1.2",
    "é",
    "'b c'",
    '"d e"',
    '"\\"\\$\\`\\\\"',
    '"\\a"',
    "\\ ",
    "\\\\",
    "\\'",
    "$'\\t\\'\\x41'",
    "=",
    ":",
    "~",
    "#",
    "%",
    "!",
]
PIECES += [
    "{",
    "}",
    ",",
    "*",
    "[",
    "]",
    "?",
    "\\\n",
    '"\\\n"',
    "''",
    '""',
    "$x",
    "`:`",
    "$(:)",
    "${x:-y}",
    "$",
    "^",
    "+",
    "/",
    "@",
    "-",
]


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), st.sampled_from(["X={}", "f {}", "X=({})"])
)
def test_what_is_read_is_what_bash_reads(raw: str, frame: str) -> None:
    printing = "f() { X=$1; [ $# = 1 ] || X=several; }\n" + frame.format(raw) + '\nprintf "%s" "${X-}"\n'
    try:
        printed = run(printing.encode())
    except (subprocess.CalledProcessError, AssertionError):
        return  # no shell at all, or a command that is not there
    slots = {
        slot.selector: slot.value
        for slot in shell.parse(printing.encode()).slots()
        if slot.value != "several" and all(token.style != shell_words.EXPANSION for token in slot.tokens)
    }
    value = slots.get({"X={}": "X", "f {}": "f 1", "X=({})": "X[]"}[frame])
    if isinstance(value, tuple):
        value = value[0] if len(value) == 1 else None
    if value is not None:
        assert value.encode() == printed


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_input_breaks_the_reader(source: bytes) -> None:
    try:
        document = shell.parse(source)
    except Unparsable:
        assert b"\0" in source
        return
    for slot in document.slots():
        places = [place for token in slot.tokens for place in (token.start, token.end)]
        assert places == sorted(places)
        assert all(0 <= place <= len(source) for place in places)
        assert slot in [hit[0] for hit in document.find(slot.selector)]


SHAPES = [s for s, _ in FRAMES] + [
    "dnf install \\\n a # b\n c",
    "X=(\n a # b\n)",
    "git clone \"${R:-x}\" -b 'v'",
    "cat <<E\n$(\nE\n",
    "pip install a[b]=='1'",
]


@given(st.sampled_from(SHAPES), st.integers(0, 40), st.sampled_from("\\'\"`$(){}#\n\r;<|=~\x00é"), st.booleans())
def test_no_damage_breaks_the_reader(shape: str, at: int, damage: str, replaces: bool) -> None:
    source = (shape[:at] + damage + shape[at + replaces :]).encode()
    try:
        document = shell.parse(source)
    except Unparsable:
        assert b"\0" in source
        return
    for slot in document.slots():
        assert all(source[token.start : token.end] or not token.value for token in slot.tokens)


@pytest.mark.parametrize(
    "unit", [b"{", b"{ ", b"$(", b"(", b'"${A:-', b"`", b"<<E ", b"a&&", b"if a; then ", b"a \\\n", b"${A:-}"]
)
def test_depth_and_length_cost_little(unit: bytes) -> None:
    began = time.monotonic()
    with suppress(Unparsable):
        list(shell.parse(unit * 20_000).slots())
    assert time.monotonic() - began < 10


def test_text_that_keeps_the_grammar_busy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_text, "PATIENCE", 0.05)
    began = time.monotonic()
    with pytest.raises(Unparsable, match="seconds to parse"):
        shell.parse(b"X=(" * 20_000)
    assert time.monotonic() - began < 2


def test_characters_beyond_ascii_do_not_reach_the_grammar() -> None:
    # Its scanner crashed on these, now and then.
    source = "{\U0010ffff a; A=\U000f1bf2 # \U0001f3d7\nB='{\U0001f3d7'\n"
    assert [value for _, value in read(source)] == ["a", "\U000f1bf2", "{\U0001f3d7"]


def test_following_a_variable_costs_little() -> None:
    chain = b"".join(b"A%d=$A%d\n" % (n, n + 1) for n in range(3000))
    many = b"B=1\n" * 2000 + b"git checkout $B\n" * 2000
    began = time.monotonic()
    assert len(find(shell.parse(chain + many + b"git checkout $A0\n"), "git checkout")) == 2000
    assert time.monotonic() - began < 5


def test_a_file_with_a_nul_is_refused() -> None:
    with pytest.raises(Unparsable):
        shell.parse(b"A=1\0\n")


def test_a_byte_order_mark_stays() -> None:
    assert written(b"\xef\xbb\xbf# x\nA=1\n", "A", "2") == b"\xef\xbb\xbf# x\nA=2\n"


def test_likely_selectors_are_offered() -> None:
    assert "DEEP_REF" in shell.parse(b"DEEP_REF=1\n").candidates("DEP_REF")


def test_wheels_by_their_address() -> None:
    """The address of a wheel names its package; what the shell would read as an operator is written in quotes alone."""
    url = "https://h/v1/sgl_deep_gemm-{}+cu129-py3-none-any.whl"
    source = f"pip install {url.format('1.0')} && uv pip install '{url.format('1.0')}#sha256=0'\n".encode()
    document = shell.parse(source)
    first, second = (hit[0] for hit in document.find("url Sgl-Deep.Gemm"))
    assert (first.value, second.value) == (url.format("1.0"), f"{url.format('1.0')}#sha256=0")
    after = write(document, first, url.format("1.1"))
    assert after == source.replace(b"1.0", b"1.1", 1)
    for value in (
        "https://h/x&id",
        "https://h/x|id",
        "https://h/(x)",
        "https://h/x;id",
        "https://h/$x",
        "https://h/`x`",
    ):
        with pytest.raises(Unwritable):
            write(document, first, value)


def test_a_set_that_needs_quotes_is_written_in_quotes_alone() -> None:
    document = shell.parse(b"pip install x~=1.0 'y>=1.0,<2'\n")
    ((bare,),), ((quoted,),) = document.find("specifier x"), document.find("specifier y")
    assert write(document, bare, "~=1.1") == b"pip install x~=1.1 'y>=1.0,<2'\n"
    assert write(document, quoted, ">=1.1,<3") == b"pip install x~=1.0 'y>=1.1,<3'\n"
    with pytest.raises(Unwritable):
        write(document, bare, ">=1.1,<3")
