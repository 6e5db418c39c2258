"""What recipes render, held against the blocks and files that should hold it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pinctl import blocks, manifest, sites
from pinctl.blocks import Fault, Identity, State
from pinctl.codes import finding
from pinctl.commands import history
from pinctl.commands.workspace import Workspace
from pinctl.external import child, files, resources
from pinctl.finding import Finding, Span
from pinctl.model import Generated
from pinctl.plan import Edit, FilePlan
from pinctl.quoting import RecipeError
from pinctl.reconcile import Problem
from pinctl.render import context, render


@dataclass(slots=True)
class Generation:
    """What was seen of every generated block and file.

    `findings` is what `check` reports; `refused` what keeps `sync` from writing; `edits` (by file) and `files` mend the
    rest.
    """

    findings: list[Finding] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)
    edits: defaultdict[str, list[Edit]] = field(default_factory=lambda: defaultdict(list))
    files: list[FilePlan] = field(default_factory=list)

    def refuse(self, found: Finding) -> None:
        self.findings.append(found)
        self.refused.append(found)


def examine(workspace: Workspace, *, force: bool = False, only: Sequence[Generated] | None = None) -> Generation:
    """Render everything that pins.toml generates, or `only` some of it, and hold it against the tree. `force`: hand
    edits may be overwritten.

    Raises ExternalError.
    """
    items = workspace.manifest.all_generated if only is None else only
    made = Generation()
    if items:
        workspace.read(item.file for item in items)
    for item in items:
        rendered = _rendered(workspace, item)
        if isinstance(rendered, Finding):
            made.refuse(rendered)
        elif item.block:
            _block(workspace, item, rendered, made, force=force)
        else:
            _file(workspace, item, rendered, made, force=force)
    return made


def changed(before: Workspace, after: Workspace) -> list[Generated]:
    """What pins.toml generates and `after` renders otherwise than `before`, which has the same recipes."""
    return [item for item in after.manifest.all_generated if _rendered(before, item) != _rendered(after, item)]


def _rendered(workspace: Workspace, item: Generated) -> str | Finding:
    """What the recipe renders, or the finding that says why it does not."""
    pin = workspace.manifest.pins.get(item.pin) if item.pin else None
    try:
        text = _recipe(workspace, item.recipe)
        data = context(pin, workspace.manifest, _options(workspace, item), file=item.file)
        return child.render(text, data) if resources.is_own(item.recipe) else render(text, data)
    except (RecipeError, files.Unreadable) as error:
        return _recipe_finding(workspace, item, error)


def _options(workspace: Workspace, item: Generated) -> Mapping[str, object]:
    """The options of `item`, in which the wheels of `docker-args` are named as pip is told of them."""
    if item.recipe != "docker-args" or "wheels" not in item.options:
        return item.options
    from pinctl.commands import wheel_references

    return {**item.options, "wheels": wheel_references.named(workspace, item)}


def _recipe(workspace: Workspace, name: str) -> str:
    """The text of a recipe; one of the consumer's own as it stood when the workspace did, where that is in the past."""
    source = workspace.sources.get(name)
    if isinstance(source, Problem):
        raise files.Missing
    return resources.recipe(name, workspace.root) if source is None else source.decode("utf-8", "replace")


def _recipe_finding(workspace: Workspace, item: Generated, error: RecipeError | files.Unreadable) -> Finding:
    at = manifest.locate(workspace.manifest, item.key)
    line = getattr(error, "line", None)
    where = f" (line {line} of the recipe)" if line else ""
    return finding("PIN226", f"recipe `{item.recipe}` does not render: {error}{where}", file=at.file, span=at.span,
                   pin=item.pin, hint="correct the pin's facts, the options or the recipe")  # fmt: skip


def _block(workspace: Workspace, item: Generated, rendered: str, made: Generation, *, force: bool) -> None:
    source = workspace.sources[item.file]
    if isinstance(source, Problem):
        made.refuse(finding(source.code, source.message, file=item.file, pin=item.pin))
        return
    comment = sites.comment_of(item.file, sites.language_for(item.file, source, workspace.manifest.languages))
    identity = Identity(pin=item.pin, recipe=item.recipe, name=item.name)
    if comment is None:
        made.refuse(finding("PIN210", "this language has no comments, so no block can be marked in it", file=item.file,
                            pin=item.pin, hint="generate the whole file: drop `block = true`"))  # fmt: skip
        return
    try:
        located = blocks.locate(source, comment, identity)
    except blocks.BlockError as error:
        made.refuse(_fault(item, source, error, blocks.markers(comment, identity)))
        return
    state = blocks.state(source, located, rendered)
    if state is State.CURRENT:
        return
    span = Span.of(source, located.start, located.end)
    code = "PIN209" if state is State.EDITED else "PIN208"
    _differs(item, code, f"the block `{identity}`", span, made, force=force)
    made.edits[item.file].append(blocks.renew(located, rendered, comment, identity))


def _fault(item: Generated, source: bytes, error: blocks.BlockError, markers: tuple[str, str]) -> Finding:
    missing = error.fault is Fault.MISSING
    hint = f"put these two lines where the block belongs, then run: pinctl sync\n{markers[0]}\n{markers[1]}"
    span = None if error.offset is None else Span.of(source, error.offset)
    return finding("PIN210", str(error), file=item.file, span=span, pin=item.pin,
                   hint=hint if missing else "leave one pair of markers, in order, then run: pinctl sync")  # fmt: skip


def _file(workspace: Workspace, item: Generated, rendered: str, made: Generation, *, force: bool) -> None:
    source = workspace.sources[item.file]
    if isinstance(source, Problem) and source.code != "PIN205":
        made.refuse(finding(source.code, source.message, file=item.file, pin=item.pin))
        return
    before = None if isinstance(source, Problem) else source
    language = sites.language_for(item.file, before or rendered.encode(), workspace.manifest.languages)
    comment = sites.comment_of(item.file, language)
    identity = Identity(pin=item.pin, recipe=item.recipe, name=item.name)
    eol = b"\r\n" if before and b"\r\n" in before else b"\n"
    after = blocks.compose_file(rendered, comment, identity, eol=eol)
    if before is None:
        made.findings.append(finding("PIN211", f"{item.file} does not exist yet", file=item.file, pin=item.pin,
                                     hint="run: pinctl sync"))  # fmt: skip
    else:
        earlier = _earlier(workspace, item) if comment is None and before != after else None
        state = blocks.file_state(before, comment, identity, rendered, earlier)
        if state is State.CURRENT:
            return
        _differs(item, "PIN209" if state is State.EDITED else "PIN211", "the file", None, made, force=force)
    made.files.append(FilePlan(path=item.file, before=before, after=after, executable=after.startswith(b"#!")))


def _earlier(workspace: Workspace, item: Generated) -> str | None:
    """What pins.toml and the recipe at HEAD made the file hold; None where they did not. Raises ExternalError."""
    then = history.manifest_at(workspace, "HEAD")
    old = next((o for o in then.all_generated if (o.file, o.block) == (item.file, False)), None) if then else None
    if then is None or old is None:
        return None
    text = _rendered(history.at(workspace, then, "HEAD"), old)
    return None if isinstance(text, Finding) else text


def _differs(item: Generated, code: str, what: str, span: Span | None, made: Generation, *, force: bool) -> None:
    """Tell a stale or edited block or file; an edited one keeps `sync` from writing."""
    if code == "PIN209":
        message = f"{what} was changed by hand, or pinctl never wrote it"
        hint = "move the change into the recipe or pins.toml, then run: pinctl sync --force"
    else:
        message, hint = f"{what} is not what recipe `{item.recipe}` renders now", "run: pinctl sync"
    found = finding(code, message, file=item.file, span=span, pin=item.pin, hint=hint)
    made.findings.append(found)
    if code == "PIN209" and not force:
        made.refused.append(found)
