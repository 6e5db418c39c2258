import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery import commands
from pinctl.discovery.commands import Clone


def clones(text: str) -> list[Clone]:
    return commands.clones(commands.of_shell(text.encode()))


def only(text: str) -> Clone:
    (clone,) = clones(text)
    return clone


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands.of_shell(text.encode())]


# --- words ---


def test_commands_end_where_a_shell_ends_them() -> None:
    assert words("a b; c && d || e | f\n(g) & h") == [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]


def test_quotes_and_continued_lines_are_undone() -> None:
    assert words('git \\\n  clone "$URL" \'a b\' x"y"z\n') == [["git", "clone", "$URL", "a b", "xyz"]]


def test_separators_in_quotes_separate_nothing() -> None:
    assert words("""echo "a; b" 'c && d'""") == [["echo", "a; b", "c && d"]]


def test_comments_are_no_commands() -> None:
    assert words("# git clone x\na # b\nc#d\n") == [["a"], ["c#d"]]


def test_a_word_knows_its_bytes() -> None:
    source = b'git clone "https://h/o/r.git"\n'
    word = commands.of_shell(source)[0].words[2]
    assert source[word.start : word.end] == b'"https://h/o/r.git"'


def test_a_word_knows_its_variables() -> None:
    assert commands.of_shell(b"a $B/${C_D:-x}\n")[0].words[1].variables == ["B", "C_D"]


@given(st.binary(max_size=200))
def test_any_bytes_are_read(source: bytes) -> None:
    for command in commands.of_shell(source):
        assert all(0 <= word.start < word.end <= len(source) for word in command.words)
    commands.clones(commands.of_shell(source))


# --- Dockerfiles ---

DOCKERFILE = b"""\
FROM a AS one
# RUN git clone https://github.com/o/comment.git
RUN git clone https://github.com/o/r.git /opt/r && \\
    cd /opt/r && \\
    # which one
    git checkout v1.2
RUN <<EOF
git clone https://github.com/o/heredoc.git
cd heredoc; git checkout v3.4
EOF
FROM b
RUN git checkout v5.6
"""


def test_the_commands_of_every_run() -> None:
    found = commands.clones(commands.of_dockerfile(DOCKERFILE))
    assert [(c.url.text, c.checkout and c.checkout.text) for c in found] == [
        ("https://github.com/o/r.git", "v1.2"),
        ("https://github.com/o/heredoc.git", "v3.4"),
    ]


def test_a_word_of_a_run_knows_its_bytes_in_the_file() -> None:
    for clone in commands.clones(commands.of_dockerfile(DOCKERFILE)):
        for word in (clone.url, clone.checkout):
            assert word is not None
            assert DOCKERFILE[word.start : word.end].decode() == word.text


def test_a_stage_forgets_the_clones_of_the_last_one() -> None:
    text = b"FROM a\nRUN git clone https://h/o/r.git\nFROM b\nRUN git checkout v5.6\n"
    (clone,) = commands.clones(commands.of_dockerfile(text))
    assert clone.checkout is None


def test_other_languages_have_no_commands() -> None:
    assert commands.read("python", b"git clone x") == []
    assert commands.read("shell", b"git pull") == []
    assert len(commands.read("shell", b"git \\\n clone x")) == 1


# --- clones ---


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://h/o/r.git -b v1.2",
        "git clone --branch v1.2 --depth 1 https://h/o/r.git r",
        "git clone --branch=v1.2 https://h/o/r.git",
        "sudo -E git -c a.b=c clone https://h/o/r.git --branch 'v1.2'",
        "git clone https://h/o/r.git; cd r; git checkout v1.2",
        "git clone https://h/o/r.git r && git -C ./r checkout -q v1.2",
        "git clone https://h/o/r.git && cd r && git switch --detach v1.2",
        "git clone https://h/o/r.git && cd r && git reset --hard v1.2",
        "docker exec box git clone https://h/o/r.git && git checkout v1.2",
    ],
)
def test_what_a_clone_takes(text: str) -> None:
    clone = only(text)
    assert clone.url.text == "https://h/o/r.git"
    assert clone.ref is not None
    assert clone.ref.text == "v1.2"


def test_the_bytes_of_a_branch_behind_its_option() -> None:
    source = b"git clone --branch=v1.2 https://h/o/r.git"
    (clone,) = commands.clones(commands.of_shell(source))
    assert clone.ref is not None
    assert source[clone.ref.start : clone.ref.end] == b"v1.2"


def test_a_clone_of_no_ref_takes_none() -> None:
    clone = only("git clone https://h/o/r.git\ngit status")
    assert (clone.ref, clone.checkout, clone.recursive) == (None, None, False)


def test_the_branch_cloned_is_the_ref_and_the_checkout_is_kept() -> None:
    clone = only("git clone -b v1 https://h/o/r.git\ngit checkout abc\n")
    assert clone.ref is not None
    assert clone.checkout is not None
    assert (clone.ref.text, clone.checkout.text) == ("v1", "abc")


def test_a_checkout_belongs_to_the_clone_of_its_folder() -> None:
    found = clones(
        "git clone https://h/o/a.git\ngit clone https://h/o/b.git bb\n"
        "cd a && git checkout v1\ncd ..\ngit -C bb checkout v2\n"
    )
    assert [c.checkout and c.checkout.text for c in found] == ["v1", "v2"]


def test_in_an_unknown_folder_it_belongs_to_the_last_clone() -> None:
    found = clones("git clone https://h/o/a.git\ngit clone https://h/o/b.git\ncd $DIR\ngit checkout v1\n")
    assert [c.checkout and c.checkout.text for c in found] == [None, "v1"]


def test_the_first_checkout_counts() -> None:
    clone = only("git clone https://h/o/r.git\ngit checkout v1\ngit checkout main\n")
    assert clone.checkout is not None
    assert clone.checkout.text == "v1"


def test_a_checkout_before_any_clone_is_of_none() -> None:
    assert clones("git checkout v1\n") == []


def test_recursion_and_what_updates_submodules() -> None:
    head = "git clone --recursive https://h/o/r.git\ncd r\n"
    assert only(head).recursive
    assert not only(head + "git checkout v1\n").updated
    assert only(head + "git checkout v1\ngit submodule update --init\n").updated
    assert only(head + "git checkout --recurse-submodules v1\n").updated
    assert not only(head + "git submodule update\ngit checkout v1\n").updated
    assert not only(head + "git checkout v1\ngit submodule status\n").updated
    assert only(head + "git checkout v1\ngit reset --hard --recurse-submodules v1\n").updated
