"""PIN1xx: what can be wrong with pins.toml itself."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN101",
        ERROR,
        "not TOML",
        "pins.toml cannot be read as TOML 1.0, or is not UTF-8. Nothing else can be told of it.",
        "Correct the line that the message names.",
        "commit = ad1f1726aa540a76c1d26d6a120effb8de21eaa4    # a string needs quotes",
    ),
    Code(
        "PIN102",
        ERROR,
        "unknown key",
        "pins.toml has no key of this name here. A misspelt key would be a rule that nobody keeps, so none is ignored.",
        "Use the spelling that the message offers; values of your own belong under `facts`.",
        'submodule = ["third-party/cutlass"]    # the key is `submodules`',
    ),
    Code(
        "PIN103",
        ERROR,
        "wrong value",
        "A value is of the wrong type or shape for its key.",
        "Write the value as the message says; `pinctl schema` prints the whole shape.",
        'submodules = "third-party/cutlass"    # a list: ["third-party/cutlass"]',
    ),
    Code(
        "PIN104",
        ERROR,
        "missing key",
        "A key that must stand here does not: every pin says where it comes from, and at which commit or version.",
        "Add the key that the message names.",
        '[pins.cutlass]\nrepo = "https://github.com/NVIDIA/cutlass.git"    # at which commit?',
    ),
    Code(
        "PIN105",
        ERROR,
        "short commit id",
        "A commit is pinned by its full id, of 40 or 64 hexadecimal digits. An abbreviation may come to name two"
        " objects, and a remote does not serve a fetch by it.",
        "Write the full id: `git rev-parse ID` prints it in a clone.",
        'commit = "ad1f172"',
    ),
    Code(
        "PIN106",
        ERROR,
        "not a commit id",
        "`commit` holds a branch, a tag or something else that is no commit id. Those move, and then the same pins.toml"
        " means another source.",
        "Put the branch under `track` or the tag under `tag`, and the commit's full id under `commit`.",
        'commit = "main"    # track = "main"',
    ),
    Code(
        "PIN107",
        ERROR,
        "unsafe URL",
        "A URL with credentials, control characters, an odd host or a transport other than https or ssh. git runs"
        " programs for some transports, and what stands in pins.toml is readable by everybody.",
        "Use an https or ssh URL without a password; credentials belong in git's credential helper. A local"
        " transport can be let in for one run by `--allow-transport`.",
        'repo = "https://token@github.com/example/kernels.git"',
    ),
    Code(
        "PIN108",
        ERROR,
        "unsafe path",
        "A path that is absolute, leaves the root (also through a symbolic link) or enters `.git`.",
        "Name a file below the directory of pins.toml, with forward slashes.",
        '[pins.cutlass.sites."../other/CMakeLists.txt"]',
    ),
    Code(
        "PIN109",
        ERROR,
        "slot claimed twice",
        "Two sites say what must stand in one and the same place, so one of them would always be wrong. Only sites with"
        " `contains` may share a list.",
        "Drop one of the sites, or let both say `contains`.",
        '[pins.a.sites."Dockerfile"]\n"ARG REF" = "{commit}"\n[pins.b.sites."Dockerfile"]\n"ARG REF" = "{commit}"',
    ),
    Code(
        "PIN110",
        ERROR,
        "unknown fact",
        "A template names a fact that no pin can have.",
        "Correct the name; a fact of your own is declared under `facts` and used as `{facts.name}`.",
        '"ARG MIN_CUDA" = "{min_cuda}"    # {facts.min_cuda}',
    ),
    Code(
        "PIN111",
        ERROR,
        "bad template",
        "A template is malformed, or names a codec that does not exist.",
        "Close every brace. The codecs are `.N` (the first N digits), `sri`, `sha512`, `bare` and `tag`; a literal"
        " `${...}` may stand as it is.",
        '"ARG REF" = "{commit:short}"    # {commit:.10}',
    ),
    Code(
        "PIN112",
        ERROR,
        "fact not declared",
        "A template needs a fact that this pin does not declare.",
        "Declare the fact under the pin, or take it out of the template.",
        '"submodules" = "{submodules}"    # and the pin has no `submodules`',
    ),
    Code(
        "PIN113",
        ERROR,
        "pin without a site",
        "Nothing in the repository is held against the pin, so it proves nothing: the places that use it drift unseen.",
        "Give it a site (`pinctl init` proposes them), or say `unused = true`.",
        '[pins.flashmla]\nrepo = "https://github.com/vllm-project/FlashMLA.git"\ncommit = "..."',
    ),
    Code(
        "PIN114",
        ERROR,
        "unknown reference",
        "A pin, variant or recipe is named that does not exist.",
        "Correct the name, or declare what it names.",
        '[pins.deepgemm.wheel]\nvariants = ["cu14"]    # no [variants.cu14]',
    ),
    Code(
        "PIN115",
        ERROR,
        "other pinctl needed",
        "The file asks for another version of pinctl, or is written in another version of the schema.",
        "Install a version that `requires-pinctl` allows.",
        'requires-pinctl = ">=9"',
    ),
    Code(
        "PIN116",
        ERROR,
        "parsers disagree",
        "Two TOML parsers read the file differently, so a tool beside pinctl may see other pins than pinctl does.",
        "Write the tables that the message names in plainer TOML: each header once, parents before children.",
        "[[a.b]]\n[a]\n[a.b.c]",
    ),
    Code(
        "PIN117",
        ERROR,
        "out of bounds",
        "The file is larger, deeper or has longer values than pins.toml may have (256 KiB, 8 levels).",
        "Split the file with `extends`, or shorten the value that the message names.",
        "facts.table = [[[[[[[[[1]]]]]]]]]",
    ),
    Code(
        "PIN118",
        ERROR,
        "bad selector",
        "The selector is none of the file's language.",
        "Use one of the forms that the message names; docs/sites.md lists those of every language.",
        '[pins.cutlass.sites."CMakeLists.txt"]\n"ARG CUTLASS_REF" = "{commit}"    # in CMake: set(CUTLASS_REF)',
    ),
    Code(
        "PIN119",
        ERROR,
        "looks like a credential",
        "A name or URL looks as if it held a secret. Build arguments stay in an image's history, and pins.toml is"
        " readable by everybody.",
        "Pass secrets as BuildKit secrets or through the environment, never through a pin.",
        'facts.github_token = "..."',
    ),
    Code(
        "PIN120",
        ERROR,
        "need not met",
        "The version of one pin does not satisfy what another pin needs of it, or its commit is not the one that the"
        " other's tree has.",
        "Bump the one or the other, or correct `needs`. A bump that breaks one is refused; `--accept PIN120` lets it"
        " pass where the other pin is bumped next.",
        'flashinfer: needs = { tilelang = ">=0.1.11" }\ntilelang:   version = "0.1.9"',
    ),
    Code(
        "PIN121",
        INFO,
        "unresolved",
        "The pin is known only by a short id or a tag. `check` compares by what there is; nothing proves yet which"
        " commit is meant.",
        "`pinctl bump --resolve` fills it in; or write the full id, and drop `unresolved`.",
        'tag = "v4.4.2"\nunresolved = true',
    ),
    Code(
        "PIN122",
        ERROR,
        "known bad",
        "The commit or version is on the pin's own list of those that are known not to work.",
        "Move to the fix that the entry names.",
        'commit = "54e2261..."\nbad = [{ commit = "54e2261...", reason = "reads out of bounds" }]',
    ),
    Code(
        "PIN123",
        WARNING,
        "waiver is stale",
        "An `allow` entry no longer matches anything, or has passed its end. Left alone it would one day hide something"
        " else.",
        "Delete the entry, or renew it with its reason.",
        'allow = [{ code = "PIN214", path = "docs/old.md", reason = "history" }]',
    ),
    Code(
        "PIN124",
        ERROR,
        "group disagrees",
        "Pins of one `group` are at different versions. They are companions, such as a package and the binaries that"
        " belong to it, and are of use together alone.",
        "`pinctl bump PIN` moves all of the group to one version.",
        'flashinfer-python: group = "flashinfer", version = "0.6.17"\n'
        'flashinfer-cubin:  group = "flashinfer", version = "0.6.16"',
    ),
    Code(
        "PIN125",
        ERROR,
        "gitlink not stored",
        "A template or a need asks for `{nested:PATH}`, the commit that the pinned tree has of a dependency of its own,"
        " and pins.toml does not hold it yet.",
        "`pinctl bump PIN --resolve` reads it from the tree; every later bump keeps it up to date.",
        'sites."CMakeLists.txt"."set(CUTLASS_REF)" = "{nested:csrc/cutlass}"    # no nested."csrc/cutlass"',
    ),
    Code(
        "PIN126",
        WARNING,
        "gitlink not used",
        "pins.toml stores the commit of a gitlink under `nested`, and no template and no need asks for it.",
        "Drop the entry, or hold a site to it: `{nested:PATH}`.",
        'nested."csrc/cutlass" = "..."    # no template with {nested:csrc/cutlass}',
    ),
)
