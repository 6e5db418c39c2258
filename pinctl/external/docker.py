"""Docker, through its command line: a client that can do BuildKit, what an image is, one build.

Two clients may be on PATH. One builds with its buildx component; one older than 23 has BuildKit's client inside,
switched on by DOCKER_BUILDKIT; one that is newer and has no buildx cannot build as it must.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pinctl.errors import ExternalError, UsageError
from pinctl.external import process
from pinctl.external.process import CommandFailed, Result, ToolMissing

LONGEST = 12 * 3600.0
"""Seconds that a build may take: kernels take hours."""

_LAST_WITH_BUILDKIT_INSIDE = 22
_ALLOWED = (
    "HOME", "LOGNAME", "TMPDIR", "USER", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "KUBECONFIG",
    "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS", "DOCKER_TLS_VERIFY",
    "DOCKER_API_VERSION", "BUILDX_BUILDER", "BUILDX_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
)  # fmt: skip
_HINT = "install Docker's buildx: apt-get install docker-buildx-plugin (Docker's packages) or docker-buildx (Debian's)"


class Client(NamedTuple):
    """A `docker` program by its path. `buildx`: it builds by its buildx component, else by what is inside."""

    path: str
    buildx: bool


class Build(NamedTuple):
    """One build: a Docker file and a stage of it, in a context folder; the stage's files go to the folder `to`."""

    file: str
    stage: str
    context: str
    arguments: Mapping[str, str]
    to: str
    platform: str
    secrets: Mapping[str, str] = {}
    builder: str | None = None


def find(*, builds: bool = True) -> Client:
    """The client to build with: `PINCTL_DOCKER`, else the first on PATH that can; where it `builds` nothing, any that
    runs. Raises ToolMissing."""
    chosen = os.environ.get("PINCTL_DOCKER")
    candidates = [chosen] if chosen else list(_on_path())
    seen: list[str] = []
    for path in candidates:
        if _succeeds(path, "buildx", "version"):
            return Client(path, buildx=True)
        version = _version(path)
        if version is not None and not (builds and int(version.partition(".")[0]) > _LAST_WITH_BUILDKIT_INSIDE):
            return Client(path, buildx=False)
        seen.append(f"{path} ({version or 'which does not run'})")
    if not seen:
        raise ToolMissing("docker is not installed, or not on PATH", hint="install docker.io, or Docker's own packages")
    if not builds:
        raise ToolMissing(f"no docker client that runs: {', '.join(seen)}", hint="correct PINCTL_DOCKER or PATH")
    raise ToolMissing(f"no docker client that can do BuildKit: {', '.join(seen)} has no buildx", hint=_HINT)


def _on_path() -> Iterator[str]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "docker")
        if folder.startswith("/") and os.access(path, os.X_OK):
            yield path


def _succeeds(path: str, *words: str) -> bool:
    try:
        process.run([path, *words], env=_environment())
    except (CommandFailed, ToolMissing):
        return False
    return True


def _version(path: str) -> str | None:
    """The client's version; None for what is no docker client."""
    try:
        said = process.run([path, "--version"], env=_environment()).stdout.decode("utf-8", "replace")
    except (CommandFailed, ToolMissing):
        return None
    found = re.search(r"version ([0-9]+\.[0-9]+)", said)
    return found[1] if found else None


def _environment(**more: str) -> dict[str, str]:
    return process.environment(_ALLOWED, **more)


def ask(client: Client, *words: str, **options: Any) -> Result:
    """What `docker WORDS` prints; `options` are those of `process.run`. Raises CommandFailed, ExternalError."""
    return process.run([client.path, *words], env=_environment(DOCKER_BUILDKIT="1"), **options)


def demand_engine(client: Client) -> None:
    """Raises ExternalError where no engine answers."""
    try:
        process.run([client.path, "version", "--format", "{{.Server.Version}}"], env=_environment())
    except CommandFailed as error:
        message = f"no Docker engine answers: {_said(error)}"
        raise ExternalError(message, hint="start it (systemctl start docker), or name a builder: --builder") from None


def image_id(client: Client, image: str) -> tuple[str, tuple[str, ...]] | None:
    """The id of an image that the engine has, `sha256:...`, and the digests by which registries know it; None where it
    has not."""
    words = ["image", "inspect", "--format", "{{.Id}}{{range .RepoDigests}} {{.}}{{end}}", "--", image]
    try:
        found = process.run([client.path, *words], env=_environment()).stdout.decode().split()
    except CommandFailed:
        return None
    return found[0], tuple(name.rpartition("@")[2] for name in found[1:])


def pull(client: Client, image: str, platform: str) -> None:
    """Have the engine fetch an image. Raises CommandFailed."""
    process.run(
        [client.path, "pull", "--quiet", "--platform", platform, "--", image], env=_environment(), timeout=LONGEST
    )


def build(client: Client, job: Build, heard: Callable[[bytes], object]) -> None:
    """Run a build; `heard` gets its log as it comes. Raises CommandFailed, KeyboardInterrupt: the client then ends the
    containers of the build before it goes."""
    argv = [client.path, *(["buildx"] if client.buildx else []), "build", *_options(client, job), "--", job.context]
    shown = ["docker", "build", "--file", job.file, "--target", job.stage, job.context]
    process.run(argv, env=_environment(DOCKER_BUILDKIT="1"), timeout=LONGEST, shown=shown, heard=heard)


def _options(client: Client, job: Build) -> Iterator[str]:
    if job.builder is not None and not client.buildx:
        raise UsageError("--builder needs docker's buildx component, which this client lacks", hint=_HINT)
    yield from ("--progress=plain", f"--file={job.file}", f"--target={job.stage}", f"--platform={job.platform}")
    yield f"--output={_fields('type=local', f'dest={job.to}')}"
    if job.builder is not None:
        yield f"--builder={job.builder}"
    if client.buildx:
        yield "--provenance=false"
    for name, value in job.arguments.items():
        yield f"--build-arg={name}={value}"
    for name, path in job.secrets.items():
        yield f"--secret={_fields(f'id={name}', f'src={path}')}"


def _fields(*fields: str) -> str:
    """An option's fields as a line of CSV (RFC 4180), as docker reads it: a path may hold a comma."""
    quoted = ('"' + field.replace('"', '""') + '"' if set(field) & set(',"') else field for field in fields)
    return ",".join(quoted)


def native() -> str:
    """The platform of this machine, as Docker names it."""
    import platform

    machine = platform.machine().lower()
    return f"linux/{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"


def _said(error: CommandFailed) -> str:
    lines: Sequence[str] = error.result.stderr.decode("utf-8", "replace").strip().splitlines()
    return "".join(c for c in lines[-1] if c.isprintable())[:200] if lines else error.headline
