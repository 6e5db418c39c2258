import pytest

from pinctl.discovery import commands, lints
from pinctl.finding import Finding

from .support import NEW, OLD, Tree, grouped

REPO = "https://github.com/deepseek-ai/DeepEP"
SCRIPT = f'DEEPEP_REF=${{DEEPEP_REF:-{OLD}}}\ngit clone {REPO} x\ncd x\ngit checkout "$DEEPEP_REF"\n'


def overriding(dockerfile: str, script: str = SCRIPT) -> list[Finding]:
    tree: Tree = {"docker/Dockerfile": dockerfile, "tools/install.sh": script}
    return list(lints.overriding_defaults(grouped(tree), {file: text.encode() for file, text in tree.items()}))


def stale(text: str, language: str = "shell") -> list[tuple[int, str]]:
    """The line and the code of each finding."""
    source = text.encode()
    found = lints.stale_submodules("a", source, commands.clones(commands.read(language, source)))
    return [(told.span.line if told.span else 0, told.code) for told in found]


# --- PIN220 ---


@pytest.mark.parametrize(
    "run",
    [
        "COPY tools/install.sh /tmp/\nRUN bash /tmp/install.sh",
        'RUN ./install.sh --ref "$DEEPEP_REF"',
        "RUN apt-get update && \\\n    ./install.sh ${DEEPEP_REF}",
        "RUN DEEPEP_REF=$DEEPEP_REF ./tools/install.sh",
    ],
)
def test_a_default_that_reaches_a_script_with_a_default(run: str) -> None:
    (found,) = overriding(f"FROM scratch\nARG DEEPEP_REF={NEW}\n{run}\n")
    assert (found.code, found.file, found.selector) == ("PIN220", "docker/Dockerfile", "ARG DEEPEP_REF")
    assert (found.expected, found.found) == (OLD, NEW)
    assert [(place.file, place.span.line) for place in found.related if place.span] == [("tools/install.sh", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "ARG DEEPEP_REF\nRUN ./install.sh",  # without a default
        f"ARG DEEPEP_REF={NEW}\nRUN ./other.sh $DEEPEP_REF",
        f"ARG DEEPEP_REF={NEW}\n# RUN ./install.sh $DEEPEP_REF",
        f"ARG DEEPEP_REF={NEW}\nCOPY install.sh /tmp/\n",
        f"ENV DEEPEP_REF={NEW}\n",
    ],
)
def test_what_reaches_no_script(text: str) -> None:
    assert overriding(f"FROM scratch\n{text}\n") == []


def test_a_script_that_gives_way_to_nothing_is_not_overridden_by_the_environment() -> None:
    script = SCRIPT.replace(f"${{DEEPEP_REF:-{OLD}}}", OLD)
    assert overriding(f"FROM scratch\nARG DEEPEP_REF={NEW}\nRUN ./install.sh\n", script) == []
    assert len(overriding(f"FROM scratch\nARG DEEPEP_REF={NEW}\nRUN ./install.sh $DEEPEP_REF\n", script)) == 1


# --- PIN221 ---

CLONE = f"git clone --recursive {REPO} x\ncd x\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{CLONE}git checkout {OLD}\n",
        f"{CLONE}git checkout {OLD}\n# git submodule update --init\n",
        f"{CLONE}git submodule update --init\ngit checkout {OLD}\n",
        f"git clone {REPO} --recurse-submodules x\ngit -C x checkout {OLD}\n",
        f"{CLONE}git reset --hard {OLD}\ngit submodule status\n",
        f"{CLONE}git checkout {OLD}\ngit clone https://github.com/o/other\ncd other\ngit submodule update\n",
    ],
)
def test_a_checkout_that_leaves_submodules_behind(text: str) -> None:
    ((line, code),) = stale(text)
    assert code == "PIN221"
    assert OLD in text.splitlines()[line - 1]


@pytest.mark.parametrize(
    "text",
    [
        f"{CLONE}git checkout {OLD}\ngit submodule update --init --recursive\n",
        f"{CLONE}git checkout {OLD} && git submodule sync && git submodule update\n",
        f"{CLONE}git checkout --recurse-submodules {OLD}\n",
        f"{CLONE}git -C . checkout {OLD}\ngit -C x submodule update\n",
        CLONE,
        f"# {CLONE.replace(chr(10), chr(10) + '# ')}git checkout {OLD}\n",
        f"git clone {REPO} x\ncd x\ngit checkout {OLD}\n",
        f"git clone --recursive {REPO} x\ngit clone https://github.com/o/other\ncd other\ngit checkout {OLD}\n",
        'echo "git clone --recursive x; git checkout y"\n',
    ],
)
def test_what_leaves_none_behind(text: str) -> None:
    assert stale(text) == []


def test_in_a_dockerfile() -> None:
    text = f"FROM a\nRUN git clone --recursive {REPO} /x \\\n && cd /x \\\n && git checkout {OLD}\n"
    assert stale(text, "dockerfile") == [(4, "PIN221")]
    assert stale(text.rstrip() + " \\\n && git submodule update\n", "dockerfile") == []
    assert stale(f"FROM a\nRUN git clone --recursive {REPO} /x\nFROM b\nRUN git checkout {OLD}\n", "dockerfile") == []
