"""Site language: Dockerfiles (also Containerfiles).

Selectors:

    ARG NAME, ENV NAME      the default of a build argument, the value of a variable
    LABEL NAME              the value of a label
    FROM                    the image of a stage; `FROM STAGE` that of the stage of that name
    COPY --from             the image that files are copied from; `COPY --from uv` that of this name, `ghcr.io/x/uv:0.5`
    any selector of shell   in RUN, whether a line or a here-document: `dnf install`, `git clone`, `NAME` ...
    requirement NAME        the same as `pip install NAME`
    STAGE:SELECTOR          in one stage: its name, or its number from 0; `global:` stands for what is before any stage

An image, value or version that a variable gives is followed to the variable's literals: those of the same stage, else
all of the file before it. The name of an earlier stage is no image. RUN in its JSON form, which no shell sees, has no
slots.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pinctl.sites import dockerfile_words, shell, shell_reader
from pinctl.sites.base import BadSelector, Hit, Slot, Token, Unwritable, verbatim
from pinctl.sites.dockerfile_lines import Instruction, instructions
from pinctl.sites.packages import Span, WordLists
from pinctl.sites.shell_text import Reading, Text, refuse_binary
from pinctl.sites.shell_words import Word, text

NAME = "dockerfile"
COMMENT: tuple[str, str] | None = ("# ", "")

_VALUE, _IMAGE = "value", "image"
_FROM = re.compile(rb"(?P<image>\S+)(?:\s+(?i:AS)\s+(?P<stage>\S+))?\s*")
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")
_COPIED = re.compile(rb"(?:\A|\s)--from=(?P<image>[^\s'\"\\]+)(?=\s)")
_FORM = re.compile(r"(?:ARG|ENV|LABEL) \S.*|(?:FROM|COPY --from)(?: \S+)?")
_STAGE = re.compile(r"[A-Za-z0-9_.-]+:(?P<rest>.+)", re.DOTALL)
_SHELL = re.compile(rb"(?:/\S*/)?(?:ba|da|a|z|k)?sh(?:\s+-\S+)*")
_OTHER_INTERPRETER = re.compile(rb"#!(?!\s*\S*?(?:/env\s+)?(?:/?\S*/)?(?:ba|da|a|z|k)?sh\b)")


@dataclass(slots=True)
class DockerfileDocument(WordLists):
    """A Dockerfile."""

    reading: Reading = field(default_factory=Reading, repr=False)
    escape: bytes = b"\\"
    stages: frozenset[str] = frozenset()
    """The names of stages, in small letters, and what else is no image."""

    def slots(self) -> Iterator[Slot]:
        return iter(self.reading.resolved())

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        if slot.style == _VALUE and token is not None:
            return dockerfile_words.quote(value, token.style, self.escape)
        if slot.style == _IMAGE:
            return self._image(value)
        if "<<" in value:
            raise Unwritable("BuildKit would take << in a RUN for a here-document")
        return shell.encode(slot, token, value)

    def _image(self, value: str) -> bytes:
        if not _IMAGE_NAME.fullmatch(value) or value.lower() in self.stages:
            raise Unwritable(f"{value!r} is no image's name")
        return verbatim(value)

    def find(self, selector: str) -> list[Hit]:
        holding = self.holding(selector)
        return self.index().get(_normal(selector), []) if holding is None else holding


def parse(source: bytes) -> DockerfileDocument:
    """The file's document. Spans of RUN that are no shell are its `errors`, and nothing in them is a slot."""
    refuse_binary(source)
    escape, found = instructions(source)
    reader = _Reader(source, escape)
    for instruction in found:
        reader.add(instruction)
    reading, stages = reader.reading, frozenset(reader.stages)
    errors = tuple(reading.errors)
    return DockerfileDocument(source, errors, words=reading.words, reading=reading, escape=escape, stages=stages)


class _Reader:
    """Takes the instructions in order and keeps the stage."""

    def __init__(self, source: bytes, escape: bytes) -> None:
        self.source, self.escape = source, escape
        self.reading = Reading()
        self.stage, self.prefixes = -1, ["", "global:"]
        self.stages = {"scratch"}

    def add(self, instruction: Instruction) -> None:
        """Adds the slots of the next instruction."""
        match instruction.keyword:
            case "FROM":
                self._from(instruction)
            case "COPY":
                self._copy(instruction)
            case "ARG" | "ENV" | "LABEL" as keyword:
                self._values(instruction, keyword)
            case "RUN" if not instruction.is_json:
                self._run(instruction)

    def _text(self, instruction: Instruction) -> Text:
        return Text(instruction.text, self.reading, span=instruction.span, prefixes=self.prefixes, scope=self.stage)

    def _from(self, instruction: Instruction) -> None:
        match = _FROM.fullmatch(instruction.text)
        if match is None:
            return
        image, name = text(match["image"]), text(match["stage"] or b"")
        self.stage += 1
        self.prefixes = ["", *dict.fromkeys(f"{stage}:" for stage in (name, name.lower(), str(self.stage)) if stage)]
        if _IMAGE_NAME.fullmatch(image) and image.lower() not in self.stages:
            word = Word(*match.span("image"), match["image"], image, _IMAGE)
            names = ("FROM", f"FROM {name}") if name else ("FROM",)
            self._text(instruction).add(names, word, style=_IMAGE)
        if name:
            self.stages.add(name.lower())

    def _copy(self, instruction: Instruction) -> None:
        """The image of `--from`, where that is neither a stage nor a build context, which has a plain name."""
        match = _COPIED.search(instruction.flags)
        image = text(match["image"]) if match else ""
        if match and _IMAGE_NAME.fullmatch(image) and re.search(r"[/:@]", image):
            before = len(instruction.flags)
            start, end = (at - before for at in match.span("image"))
            name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
            word = Word(start, end, match["image"], image, _IMAGE)
            self._text(instruction).add((f"COPY --from {name}", "COPY --from"), word, style=_IMAGE)

    def _values(self, instruction: Instruction, keyword: str) -> None:
        into = self._text(instruction)
        for name, word in dockerfile_words.assignments(instruction.text, self.escape, old_form=keyword != "ARG"):
            if word.value is not None:
                into.add((f"{keyword} {name}",), word, style=_VALUE, variable="" if keyword == "LABEL" else name)
            elif keyword != "LABEL":
                into.assigned(name, word)

    def _run(self, instruction: Instruction) -> None:
        command = instruction.text.strip()
        if command:
            shell_reader.read(self._text(instruction))
        if len(instruction.heredocs) == 1 and (not command or _SHELL.fullmatch(command)):
            self._heredoc(*instruction.heredocs[0])

    def _heredoc(self, first: int, last: int) -> None:
        body = self.source[first:last]

        def span(start: int, end: int) -> Span:
            return first + start, first + end

        if not _OTHER_INTERPRETER.match(body):
            shell_reader.read(Text(body, self.reading, span=span, prefixes=self.prefixes, scope=self.stage))


def _normal(selector: str) -> str:
    """`selector` as the index has it. Raises BadSelector where it is of no form above."""
    if _FORM.fullmatch(selector):
        return selector
    stage = _STAGE.fullmatch(selector)
    try:
        return shell.normal(selector)
    except BadSelector as error:
        if stage is not None:
            return selector[: stage.start("rest")] + _normal(stage["rest"])
        forms = "Dockerfile: expected ARG NAME, ENV NAME, LABEL NAME, FROM, COPY --from,"
        raise BadSelector(str(error).replace("shell script: expected", forms)) from None
