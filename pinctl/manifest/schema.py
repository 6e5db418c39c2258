"""The structure of pins.toml, said once: `manifest.parse` checks by it, and `pinctl schema` prints it.

A path, a commit id are strings here, held to a rule besides (`Ruled`). What one key says of another is no structure
either: see `crosscheck`.
"""

from pinctl.manifest.rules import broken_commit, broken_path
from pinctl.manifest.shapes import Bool, Choice, Exactly, Field, Int, Json, List, Map, Number, OneOf, Ruled, Str, Table
from pinctl.sites import LANGUAGES

_NAME = Str("a name of letters, digits, - and _", "[A-Za-z0-9_-]+")
_TEXT = Str("a text on one line", "[^\\x00-\\x1f\\x7f]+")
_LINE = Str("a text on one line", "[^\\x00-\\x1f\\x7f]*", empty=True)
_PROSE = Str("a text")
_COMMAND = Str("a command")
_URL = Str("a URL")
_PATH = Ruled("a path below the folder of pins.toml", broken_path)
_TREE_PATH = Ruled("a path in the pinned tree", broken_path)
_COMMIT = Ruled("a full commit id", broken_commit)
_SHORT = Str("a commit id or a prefix of one", "[0-9a-f]{4,64}")
# git-check-ref-format(1), as far as one look tells; a pattern may hold `*`, `?` and `[`.
_REF = Str("a tag", r"(?![^\n]*(?:\.\.|@\{))[^\x00-\x20\x7f~^:?*\[\\-][^\x00-\x20\x7f~^:?*\[\\]*")
_TRACK = Str("a branch or a pattern of tags", r"(?![^\n]*(?:\.\.|@\{))[^\x00-\x20\x7f~^:\\-][^\x00-\x20\x7f~^:\\]*")
_VERSION = Str("a version", r"[A-Za-z0-9][A-Za-z0-9.+!_-]*")
_SPECIFIER = Str("a version specifier such as >=0.1.11", r"[A-Za-z0-9<>=!~.,*+ _-]+")
_NEED = Str(
    "a version specifier such as >=0.1.11, or {nested:PATH}", r"[A-Za-z0-9<>=!~.,*+ _-]+|\{nested:[^{}\x00-\x20\x7f]+\}"
)
_PACKAGE = Str("a package name", r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # PEP 508
_SYSTEM_PACKAGE = Str("a package name", r"[A-Za-z0-9][A-Za-z0-9.+:~_-]*")
_SHA256 = Str("a sha256 of 64 digits in lower case", "[0-9a-f]{64}")
_DIGEST = Str("sha256: and 64 digits", "sha256:[0-9a-f]{64}")
_IMAGE = Str(
    "an image name, with its tag",
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?::[0-9]+)?(?:/[A-Za-z0-9._-]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?(?:@sha256:[0-9a-f]{64})?",
)
_VALUE = OneOf("a text, a number, true, false or an array of texts", _TEXT, Int(), Bool(), List(_TEXT), hint="quote it")
_OPTIONS = Map(_NAME, _VALUE)
_WORD = "[A-Za-z_][A-Za-z0-9_]*"  # of Python, in ASCII
_DOTTED = Str("a dotted name", rf"{_WORD}(?:\.{_WORD})*")
_CALL = Str(
    "a dotted name, or one with the keywords of a call: f(a, b)",
    rf"{_WORD}(?:\.{_WORD})*(?:\( *(?:{_WORD}(?: *, *{_WORD})*)? *\))?",
)

TEMPLATE = OneOf(
    'a template "...", { contains = "..." } or { equals = "..." }',
    _TEXT,
    Table({"contains": Field(_TEXT, "the list in the slot holds these, and may hold more", required=True)}),
    Table({"equals": Field(_TEXT, "the slot holds exactly this", required=True)}),
    hint='a file name with dots is one key, so quote it: sites."CMakeLists.txt"',
)
_SELECTORS = Map(_TEXT, TEMPLATE, least=1, wanted="a table of selectors")
_GENERATED = Table(
    {
        "recipe": Field(_TEXT, "the recipe: a bundled one by name, your own by path (./pins/x.j2)", required=True),
        "block": Field(Bool(), "write a marked block, and leave the rest of the file alone"),
        "name": Field(_NAME, "tells several blocks of one recipe in one file apart"),
        "options": Field(_OPTIONS, "settings of the recipe"),
    }
)
_GENERATE = Map(
    _PATH,
    OneOf("a recipe, { recipe = ... } or an array of such tables", _TEXT, _GENERATED, List(_GENERATED, least=1)),
)

_ROOTS = {
    "consumer_roots": Field(List(_PATH), "where the code is that calls the pinned packages"),
    "build_roots": Field(List(_PATH), "where the files are that build or install them"),
}
_CONTRACT = Table(
    {
        "import_names": Field(List(_DOTTED), "the names under which the package is imported"),
        "requires": Field(List(_CALL), "names, or calls with their parameters, that the pinned tree must offer"),
        **_ROOTS,
    }
)
_WAIVERS = List(
    Table(
        {
            "reason": Field(_PROSE, "why the finding is accepted", required=True),
            "code": Field(Str("a finding code such as PIN214", "PIN[1-9][0-9]{2}"), "the finding's code"),
            "path": Field(_PATH, "the file that it is about, or a glob of files"),
            "symbol": Field(_TEXT, "the name that it is about"),
            "until": Field(_COMMIT, "the commit of the pin from which on the waiver no longer holds"),
        }
    )
)
_WHEN = Choice("build", "run", "both")
_SYSTEM_PACKAGES = Table(
    {
        **{
            manager: Field(_SYSTEM_PACKAGE, f"the package's name under {manager}")
            for manager in ("dnf", "microdnf", "apt", "apk")
        },
        "header": Field(_TEXT, "the header that shows the need"),
        "when": Field(_WHEN, "build (the default), run or both"),
    }
)
_ANY_PATCH = {
    "when": Field(_TEXT, 'the versions that it is for, as "version < 2.8"'),
    "variants": Field(List(_NAME, unique=True), "the variants that it is for; absent: all"),
    "retire": Field(Choice("upstream"), "upstream: tell when the pinned tree holds the change"),
    "supersedes": Field(List(_PATH, unique=True), "files of older forms of this patch"),
}
_DIFF = Table(
    {
        "file": Field(_PATH, "the patch: a unified diff", required=True),
        "backport": Field(_COMMIT, "the upstream commit that it was taken from"),
        "executables": Field(Bool(), "it may make programs, files of mode 100755"),
        **_ANY_PATCH,
    }
)
_REPLACEMENT = Table(
    {
        "target": Field(_TREE_PATH, "the installed file, as seen from the folder of --in", required=True),
        "search": Field(_PROSE, "the text that is exchanged", required=True),
        "replace": Field(_PROSE, "what takes its place", required=True),
        "count": Field(Int(1), "how often it is there; once if absent"),
        **_ANY_PATCH,
    }
)
_PATCHES = List(OneOf("a table with `file`, or with `target`, `search` and `replace`", _DIFF, _REPLACEMENT))
_CHECKS = List(
    Table(
        {
            "name": Field(_NAME, "what the evidence calls it", required=True),
            "command": Field(_COMMAND, "what is run", required=True),
            "needs": Field(List(_TEXT, unique=True), "what a machine must have to run it, such as sm90"),
            "timeout": Field(Int(1), "seconds until it counts as hung; 600 if absent"),
            "tolerance": Field(Number(), "the relative error that still passes"),
            "guards": Field(List(_TEXT, unique=True), "the names that it shows at work"),
        }
    )
)
_WHY_BAD = {
    "reason": Field(_PROSE, "what goes wrong", required=True),
    "fix": Field(_TEXT, "what mends it"),
}
_BAD = List(
    OneOf(
        "a table with `reason` and `commit` or `version`",
        Table({"commit": Field(_COMMIT, "the commit", required=True), **_WHY_BAD}),
        Table({"version": Field(_VERSION, "the version", required=True), **_WHY_BAD}),
    )
)
_ARCHIVE = Table(
    {
        "url": Field(_URL, "where the archive of the pinned commit is"),
        "prefix": Field(_TEXT, "the folder that holds everything in it"),
        **{
            name: Field(Str(f"{digits} digits in lower case", f"[0-9a-f]{{{digits}}}"), f"its {name}")
            for name, digits in (("md5", 32), ("sha1", 40), ("sha256", 64), ("sha384", 96), ("sha512", 128))
        },
    }
)

_CUDA = Str("a CUDA version such as 12.9 or 13.0.1", r"[0-9]+\.[0-9]+(?:\.[0-9]+)?")
_PYTHON = Str("a Python version such as 3.12", r"3\.[0-9]+t?")
_PLATFORM = Choice("linux/amd64", "linux/arm64", "linux/ppc64le", "linux/riscv64", "linux/s390x")
_ARCH = Str("a GPU architecture such as 9.0a", "[A-Za-z0-9][A-Za-z0-9.+_-]*")
_LABEL = Str("a local version label such as cu129", r"[a-z0-9]+(?:\.[a-z0-9]+)*")  # PEP 440, normalized
_VARIABLE = Str("the name of a variable", "[A-Za-z_][A-Za-z0-9_]*")
_MANYLINUX = Str("a tag such as manylinux_2_28", "manylinux_2_[0-9]{1,2}|musllinux_1_[0-9]{1,2}")
# PEP 508 without URLs.
_REQUIREMENT = Str("a requirement such as ninja>=1.11", r"[A-Za-z0-9][A-Za-z0-9 .,<>=!~+*_;\[\]()'\"-]*")
_LOCK = Ruled("a path below the folder of pins.toml", broken_path)
_EXCLUDE = List(
    Table(
        {
            "reason": Field(_PROSE, "why they are not built", required=True),
            "variant": Field(_NAME, "of this variant alone"),
            "python": Field(_PYTHON, "of this Python alone"),
            "platform": Field(_PLATFORM, "of this platform alone"),
        },
        least=1,
    )
)

PIN = Table(
    {
        "repo": Field(_URL, "the git repository"),
        "commit": Field(_COMMIT, "the full commit id that is used"),
        "tag": Field(_REF, "the tag that names the commit"),
        "track": Field(_TRACK, 'the branch, or the tag pattern as "v*", that bumps follow'),
        "upstream": Field(
            Table(
                {
                    "repo": Field(_URL, "the git repository", required=True),
                    "track": Field(_TRACK, "its branch or tag pattern"),
                }
            ),
            "what this fork forks",
        ),
        "version": Field(_VERSION, "the version of the source or of the packages"),
        "packages": Field(List(_PACKAGE, unique=True, least=1), "packages of an index, all at `version`"),
        "url": Field(_URL, "an archive; may hold {version}, {tag}, {commit} and {platform}"),
        "sha256": Field(
            OneOf("a sha256, or one for each platform", _SHA256, Map(_TEXT, _SHA256, least=1)),
            "the archive's digest; by what stands for {platform} in `url`, where there are several",
        ),
        "image": Field(_IMAGE, "a container image, with its tag"),
        "digest": Field(_DIGEST, "the image's digest"),
        "unresolved": Field(
            OneOf("true, or the short commit id", Bool(), _SHORT),
            "known by its tag or version only, or by this short commit id",
        ),
        "submodules": Field(List(_TREE_PATH, unique=True), "the submodules that are used: [] for none; absent: all"),
        "recursive": Field(Bool(), "also the submodules of submodules"),
        "lfs": Field(Bool(), "fetch what git LFS holds"),
        "include_dirs": Field(List(_TREE_PATH, unique=True), "folders of the tree where headers are looked for"),
        "header_globs": Field(List(_TREE_PATH, unique=True), "globs of headers, as CMake's GLOB_RECURSE means them"),
        "archive": Field(_ARCHIVE, "the archive of the commit: its url, prefix and digests"),
        "nested": Field(Map(_TREE_PATH, _COMMIT), "path to commit of gitlinks in the pinned tree"),
        "system_packages": Field(Map(_NAME, _SYSTEM_PACKAGES), "what the system must offer, one line a need"),
        "facts": Field(_OPTIONS, "facts of your own: {facts.NAME} in templates"),
        "needs": Field(Map(_PACKAGE, _NEED), "other pins by their version, or by this tree's commit of them"),
        "group": Field(_NAME, "pins of one group move together"),
        "sites": Field(Map(_PATH, _SELECTORS), "file, selector, and the template of what must stand there"),
        "generate": Field(_GENERATE, "file, and the recipe that renders it or a block of it"),
        "unused": Field(Bool(), "no site uses the pin, and that is meant"),
        "patches": Field(_PATCHES, "patches on the pinned tree, in order"),
        "contract": Field(_CONTRACT, "what the consumer needs of the package"),
        "wheel": Field(
            Table(
                {
                    "recipe": Field(_TEXT, "the recipe that builds the wheel", required=True),
                    "variants": Field(List(_NAME, unique=True), "the variants that are built; absent: all"),
                    "requires": Field(List(_REQUIREMENT, unique=True), "what the build needs of a package index"),
                    "lock": Field(_LOCK, "a requirements file with digests for all of that"),
                    "env": Field(Map(_VARIABLE, _LINE), "environment of the build"),
                    "exclude": Field(_EXCLUDE, "cells of the matrix that are not built"),
                    "imports": Field(List(_DOTTED, unique=True), "what is imported to try a wheel"),
                    "options": Field(_OPTIONS, "settings of the recipe"),
                }
            ),
            "how its wheel is built",
        ),
        "checks": Field(_CHECKS, "commands that show the pin at work"),
        "bad": Field(_BAD, "commits and versions known not to work"),
        "policy": Field(_OPTIONS, "how bumps treat this pin"),
        "allow": Field(_WAIVERS, "findings about this pin that are accepted"),
    }
)

VARIANT = Table(
    {
        "cuda": Field(_CUDA, "the CUDA version"),
        "image": Field(_IMAGE, "the image to build in"),
        "digest": Field(_DIGEST, "the image's digest"),
        "torch": Field(_VERSION, "the version of torch"),
        "python": Field(List(_PYTHON, unique=True), "the Pythons"),
        "platforms": Field(List(_PLATFORM, unique=True), "the platforms, as Docker names them"),
        "arch_list": Field(List(_ARCH, unique=True), "the GPU architectures"),
        "packages": Field(Choice("dnf", "microdnf", "apt", "apk"), "the image's package manager"),
        "runtime": Field(_IMAGE, "the image that wheels are tried in; absent: `image`"),
        "manylinux": Field(_MANYLINUX, "the platform tag that wheels are repaired for"),
        "index_url": Field(_URL, "a package index that is asked besides the usual one"),
        "requires": Field(List(_REQUIREMENT, unique=True), "what its builds need of a package index"),
        "label": Field(_LABEL, "the local version label of its wheels; none on PyPI"),
        "publish": Field(Choice("pypi", "index", "github", "oci"), "where its wheels go"),
        "env": Field(Map(_VARIABLE, _LINE), "environment of the build"),
        "facts": Field(_OPTIONS, "facts of your own: {variants.NAME.facts.NAME} in templates"),
    }
)

_TAGGED = Str(
    "an image name, with its tag",
    r"[a-z0-9][A-Za-z0-9._-]*(?::[0-9]+)?(?:/[a-z0-9._-]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?",
)
_STAGE = Str("the name of a stage", "[A-Za-z0-9][A-Za-z0-9_.-]*")
IMAGE = Table(
    {
        "dockerfile": Field(_PATH, "the Docker file", required=True),
        "context": Field(_PATH, "the folder that the build reads; absent: that of pins.toml"),
        "target": Field(_STAGE, "the stage that is built; absent: the last"),
        "variant": Field(_NAME, "the variant whose wheels are in it"),
        "python": Field(_PYTHON, "the Python that its wheels are for"),
        "pins": Field(List(_NAME, unique=True), "pins that are in it besides those of `args` and `wheels`"),
        "platforms": Field(List(_PLATFORM, unique=True), "the platforms; absent: that of the machine"),
        "tags": Field(List(_TAGGED, unique=True), "the names that it gets"),
        "args": Field(Map(_VARIABLE, _TEXT), "build argument to the template of its value"),
        "wheels": Field(Map(_VARIABLE, _NAME), "build argument to the pin whose wheel it names, as pip takes it"),
    }
)

_CHANNEL = Str("a name of lower-case letters and digits", "[a-z0-9]+(?:[._-][a-z0-9]+)*")
_FOLDER = r"(?:[a-z0-9]|\{channel\}|\{variant\})(?:[a-z0-9._-]|\{channel\}|\{variant\})*"
_FOLDERS = Str(
    "folders with {variant} in them, as {channel}/{variant}/",
    rf"(?=[^\n]*\{{variant\}}){_FOLDER}(?:/{_FOLDER})*/?",
)
_LAYOUT = OneOf(
    'a template such as "{channel}/{variant}/", or a table of them by channel',
    _FOLDERS,
    Map(_CHANNEL, _FOLDERS, least=1),
)

PINS_TOML = Table(
    {
        "schema": Field(Exactly(1, "PIN115", "use the pinctl that it was written for"), "this format's version: 1"),
        "requires-pinctl": Field(_SPECIFIER, "the versions of pinctl that may read this file"),
        "extends": Field(_PATH, "a file like this one, merged under it: what stands here wins"),
        "contract": Field(Table(_ROOTS), "said once for all pins"),
        "pins": Field(Map(_NAME, PIN), "the pins by name"),
        "variants": Field(Map(_NAME, VARIANT), "build targets by name"),
        "images": Field(Map(_NAME, IMAGE), "Docker images by name"),
        "sites": Field(
            List(
                Table(
                    {"file": Field(_PATH, "the file; every other key is a selector in it", required=True)},
                    rest=TEMPLATE,
                    least=1,
                )
            ),
            "sites that hold facts of no single pin",
        ),
        "generate": Field(_GENERATE, "files, or blocks of files, made from several pins"),
        "languages": Field(
            Map(_PATH, Choice(*(name for name, _ in LANGUAGES))), "glob of files to the language that they are read in"
        ),
        "index": Field(
            Table(
                {
                    "url": Field(_URL, "the base URL of the wheel index"),
                    "layout": Field(_LAYOUT, "the folder of a page, as {channel}/{variant}/; or a channel's own"),
                    "channels": Field(List(_CHANNEL, unique=True, least=1), "such as release, nightly and pr"),
                    "retention": Field(Map(_CHANNEL, Int(1)), "channel to the days that its wheels are kept"),
                    "records": Field(_PATH, "the file that lists every published wheel"),
                }
            ),
            "the wheel index",
        ),
        "allow": Field(_WAIVERS, "findings that are accepted"),
    }
)


def json_schema() -> Json:
    """pins.toml as JSON Schema 2020-12: exact for structure."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pins.toml",
        "description": "The pins of pinctl. Beyond this structure, pinctl checks what keys say of each other.",
        **PINS_TOML.json_schema(),
    }
