"""PIN3xx: what a pin's own repository says against it."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN301",
        ERROR,
        "commit is gone",
        "The remote no longer gives the pinned commit: it was force-pushed away and collected, or was never pushed."
        " Asked of a store that has not seen the commit before, so that no cache can hide it.",
        "Pin a commit that the remote has; `pinctl bump PIN` offers the tracked branch's.",
        'commit = "ad1f172..."    # git fetch: not our ref',
    ),
    Code(
        "PIN302",
        WARNING,
        "not on the tracked branch",
        "The remote gives the commit by its id, and the tracked branch does not have it: a pull request's head, or"
        " what a force-push left behind. It may be collected at any time, and nobody need have reviewed it.",
        "Set `track` to the branch that holds it, or pin a commit of the tracked one.",
        'track = "main"\ncommit = "1f0d8c2..."    # refs/pull/7/head alone',
    ),
    Code(
        "PIN303",
        ERROR,
        "tag moved",
        "The tag of the pin is not there, or leads to another commit than the pinned one. An annotated tag is peeled"
        " before it is compared.",
        "Find out why it moved. The commit is what is built; bump to the tag again, or drop `tag`.",
        'tag = "v4.4.2"\ncommit = "57e3cfb..."    # v4.4.2 is 0a1b2c3 today',
    ),
    Code(
        "PIN304",
        ERROR,
        "submodule vanished",
        "A declared submodule is not one of the tree at the pinned commit: it was removed or renamed, or is a folder"
        " now.",
        "Name what replaced it; the hint says where it may be.",
        'submodules = ["third-party/fmt"]    # the tree has third-party/deep_jit',
    ),
    Code(
        "PIN305",
        WARNING,
        "submodule not declared",
        "The tree has a submodule that `submodules` does not list, so no checkout of the pin has it.",
        "Add it, if the build needs it. A pin that needs none says `submodules = []`.",
        'submodules = ["third-party/cutlass"]    # the tree has third-party/deep_jit, too',
    ),
    Code(
        "PIN306",
        ERROR,
        "submodule without URL",
        "The tree has a submodule for which .gitmodules has no entry or no URL: git cannot clone it.",
        "Leave it out of `submodules`, or have upstream add the entry.",
        'fatal: No url found for submodule path "third-party/fmt" in .gitmodules',
    ),
    Code(
        "PIN307",
        WARNING,
        "entry without submodule",
        "An entry of .gitmodules names a path where the tree has no submodule. git ignores it.",
        "Tell upstream; drop the path from `submodules`.",
        '[submodule "fmt"]\n  path = third-party/fmt    # a plain folder, or nothing',
    ),
    Code(
        "PIN308",
        ERROR,
        "submodule commit is gone",
        "The submodule's own remote does not have the commit that the tree wants of it: it was never pushed, or was"
        " force-pushed away.",
        "Pin a commit whose submodules can be had; tell upstream.",
        "fatal: remote error: upload-pack: not our ref f3fde583...",
    ),
    Code(
        "PIN309",
        ERROR,
        "submodule refused",
        "The name, path or URL of a submodule is one that git or a tool could take for something else: an option, a"
        " path that leaves its folder, a transport that runs commands.",
        "Do not build this commit before somebody has looked at it.",
        '[submodule "../../hooks"]\n  url = -u./payload',
    ),
    Code(
        "PIN310",
        ERROR,
        "include folder vanished",
        "A folder of `include_dirs` is neither in the tree nor in one of the declared submodules.",
        "Name the folder that took its place; the hint lists those of the same name.",
        'include_dirs = ["third-party/fmt/include"]',
    ),
    Code(
        "PIN311",
        ERROR,
        "glob matches nothing",
        "A glob of `header_globs` matches no file, as CMake's GLOB_RECURSE means it: what it feeds does not notice when"
        " a header changes.",
        "Correct the glob, or drop it.",
        'header_globs = ["csrc/*.hh"]    # they are called .hpp',
    ),
    Code(
        "PIN312",
        ERROR,
        "named path is missing",
        "A build file of this repository names a path below the pinned source, and the tree does not have it.",
        "Correct the build file; the hint lists folders of the same name.",
        "include_directories(${deepgemm_SOURCE_DIR}/third-party/fmt/include)",
    ),
    Code(
        "PIN313",
        ERROR,
        "version differs",
        "The version of the pin is not the one that its tree says: in pyproject.toml, setup.py, a VERSION file or"
        " `__version__`.",
        "Write the tree's version into pins.toml, or pin the commit of the version that is meant.",
        'version = "2.6.0"    # deep_gemm/__init__.py: 2.6.1',
    ),
    Code(
        "PIN314",
        WARNING,
        "file kept in LFS",
        "A file below the paths that the build uses is kept in Git LFS. Without LFS a checkout has three lines of text"
        " in its place.",
        "Say `lfs = true` in the pin, if the build needs the file.",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a...",
    ),
    Code(
        "PIN315",
        ERROR,
        "system package missing",
        "A source of the tree, or of a submodule that it reaches, includes a well-known header, and `system_packages`"
        " has no package for it. An error only where the build cannot do without: not under"
        " `__has_include`, not in tests.",
        "Declare the package as the hint says; the lists of Dockerfiles follow with `pinctl sync`.",
        "#include <elfutils/libdwfl.h>    // elfutils-devel (dnf), libdw-dev (apt)",
    ),
    Code(
        "PIN316",
        WARNING,
        "header of unknown origin",
        "A source includes a header that neither the tree, its submodules, the compiler, the system, CUDA, Python nor"
        " PyTorch provides, and that pinctl does not know.",
        "Name its package with `header` in `system_packages`, or declare the submodule that has it.",
        "#include <vendor/fabric.h>",
    ),
    Code(
        "PIN317",
        WARNING,
        "package not needed",
        "A package is declared for the build, and no source that was read includes its header.",
        'Drop it; or say `when = "run"` for a library that is loaded at run time.',
        'system_packages.numa = { dnf = "numactl-devel", header = "numa.h" }    # nowhere included',
    ),
    Code(
        "PIN318",
        WARNING,
        "names collide",
        "Two paths of the tree are one file where letter case or the composition of accents does not count, as on"
        " macOS: one of them silently replaces the other.",
        "Check such a pin out on Linux alone, and tell upstream.",
        "include/Config.h and include/config.h",
    ),
    Code(
        "PIN319",
        ERROR,
        "nested commit differs",
        "The commit of a gitlink that pins.toml stores under `nested` is not the one of the tree, or the tree has no"
        " gitlink there.",
        "Write the tree's commit into pins.toml, and run `pinctl sync`.",
        'nested."third-party/cutlass" = "f3fde58..."',
    ),
    Code(
        "PIN320",
        ERROR,
        "remote not reached",
        "A remote did not answer, or gave no access. Nothing is said about the pin; the other pins are verified.",
        "Run again, check the network or the credentials; `--offline` uses what is in the cache.",
        "could not resolve host: github.com",
    ),
    Code(
        "PIN321",
        ERROR,
        "tree refused",
        "What the remote sent may not be used: objects that fail git's checks, a path that no checkout may hold, more"
        " files than can be looked at.",
        "Do not build this commit before somebody has looked at it.",
        "tree 4b825dc: a path `.GIT/config`",
    ),
    Code(
        "PIN322",
        ERROR,
        "bump goes back",
        "The commit that a bump leads to lies in the history of the pinned one, or its tag is an older version: what"
        " has been fixed since would be lost.",
        "Name another commit; accept the way back with `--accept PIN322`; or take the last bump back with"
        " `pinctl bump PIN --rollback`.",
        "pinctl bump cutlass --to v4.3.0    # v4.4.2 is pinned",
    ),
    Code(
        "PIN323",
        WARNING,
        "bump leaves commits behind",
        "The commit that a bump leads to does not descend from the pinned one: commits that are used now are not in its"
        " history. A branch that was rebased or force-pushed looks so, and a fork that is left for its upstream.",
        "Look at `pinctl diff PIN`, which lists the commits that are left behind.",
        "deepgemm: 12 commits ahead, 2 behind",
    ),
    Code(
        "PIN324",
        ERROR,
        "nothing to follow",
        "The branch that `track` names, a tag of the pattern, or what `--to` names is not in the repository.",
        "Set `track` to the branch or tag pattern that the pin follows, or name the commit with `--to`.",
        'track = "dev"    # there is main alone',
    ),
    Code(
        "PIN325",
        ERROR,
        "version not in the index",
        "No index that pip is configured for has the package, or has it at the pinned version. A version is compared"
        " whole: 0.1.5 is not 0.1.5.post2. A pin without a local label means every label.",
        "Pin a version that the index has; or correct pip's configuration (`pip config list`), PIP_INDEX_URL and"
        " PIP_EXTRA_INDEX_URL.",
        'packages = ["tilelang"]\nversion = "0.1.5"    # the index has 0.1.4 and 0.1.5.post2',
    ),
    Code(
        "PIN326",
        ERROR,
        "version yanked",
        "The version was taken back (PEP 592): it can still be installed by its exact number, and its makers say that"
        " it should not be. A warning where some of its files alone are yanked.",
        "Pin another version; the message has the reason, where one was given.",
        'version = "0.6.9"    # yanked: broken on aarch64',
    ),
    Code(
        "PIN327",
        WARNING,
        "no wheel for a platform",
        "A variant of the pin names a platform and a Python for which the version has no wheel: an installation there"
        " builds from source, or fails.",
        "Pin a version that has the wheel, or build it; drop the platform or the Python from the variant if it is not"
        " served.",
        'variants.cu13.platforms = ["linux/amd64", "linux/arm64"]    # wheels for linux/amd64 alone',
    ),
    Code(
        "PIN328",
        INFO,
        "in several indexes",
        "Two of the configured indexes have the version, with different files. pip prefers none of them: whoever can"
        " publish in one of the two can replace what the other has.",
        "Use one index that mirrors the other, or install by digest (`--require-hashes`).",
        "extra-index-url = https://wheels.example/simple/    # and PyPI has the package, too",
    ),
    Code(
        "PIN329",
        ERROR,
        "archive is gone",
        "The server has nothing at the URL of the archive.",
        "Name another place in `url`; the digest says whether it holds the same.",
        'url = "https://example.com/fmt-11.0.0.tar.gz"    # 404',
    ),
    Code(
        "PIN330",
        ERROR,
        "archive differs",
        "The archive's URL gives other bytes than those that were pinned: same URL, another digest. It was packed anew,"
        " or replaced.",
        "Find out why before it is built. Where it holds the pinned commit, write its new digest into pins.toml.",
        'sha256 = "9f86d08..."    # the server gives 60303ae...',
    ),
    Code(
        "PIN331",
        ERROR,
        "archive of another commit",
        "The archive says that it was made of another commit than the pinned one, or its files lie in another folder"
        " than `prefix`.",
        "Name the commit in the URL, and the folder in `prefix`.",
        'archive.url = "https://github.com/o/n/archive/main.tar.gz"',
    ),
    Code(
        "PIN332",
        ERROR,
        "image is gone",
        "The registry has no image of that name and tag, or no longer has the pinned digest.",
        "Pin a tag and a digest that it has.",
        'image = "pytorch/manylinux2_28-builder:cuda12.4"    # removed',
    ),
    Code(
        "PIN333",
        ERROR,
        "image tag moved",
        "The tag of the image leads to another digest than the pinned one. Of an image for several platforms the digest"
        " of its index counts.",
        "Look at what changed, and pin the new digest.",
        'image = "ubuntu:24.04"\ndigest = "sha256:1e622c5..."',
    ),
    Code(
        "PIN334",
        ERROR,
        "image without a platform",
        "The image is one for several platforms, and a platform that the variant is for is not among them: nothing can"
        " be built or run in it there.",
        "Name an image that has the platform, or take the platform out of the variant.",
        'variants.cu13.platforms = ["linux/amd64", "linux/arm64"]    # the image has linux/amd64 alone',
    ),
    Code(
        "PIN340",
        ERROR,
        "archive holds other files",
        "The archive names the pinned commit as the one that it was made of, and its files are not those that git makes"
        " of that commit. An archive says of itself what its maker wants it to say.",
        "Do not build it; take the source by the commit's id, and ask who serves the archive.",
        "https://files.example/dg-54e2261.tar.gz    # csrc/jit.hpp is another file than the commit's",
    ),
    Code(
        "PIN341",
        WARNING,
        "archive not seen",
        "The archive's URL could not be reached, so that its digest was made from the commit, as git and gzip make it:"
        " what forges serve has been equal to that, and may be packed otherwise one day.",
        "Run `pinctl verify` where the archive can be had.",
        'archive.sha256 = "2c1e5f0..."    # git archive, gzip',
    ),
    Code(
        "PIN350",
        ERROR,
        "edit no longer matches",
        "A build file edits the pinned source by its text (CMake's string(REPLACE), `sed -i`, Python's replace, a"
        " patch), and what the edit looks for is not in the tree: it changes nothing, and says nothing. A bump refuses"
        " it where it matched at the pinned commit. A warning where a script's `sed` names a file that the tree does"
        " not have.",
        "Correct the edit after what stands there now, or drop it. One that need not match is accepted by `allow`, with"
        " this code and the build file as `path`.",
        'string(REPLACE "torch.ops._old" "torch.ops._new" TEXT "${TEXT}")    # the tree has no `torch.ops._old`',
    ),
    Code(
        "PIN351",
        WARNING,
        "edit made upstream",
        "The tree holds what an edit of the pinned source would write, and nothing besides that the edit looks for:"
        " upstream has made it. Where what it writes holds what it looks for, it is made once more.",
        "Drop the edit.",
        "sed -i 's/-std=c++17/-std=c++20/' DeepGEMM/setup.py    # setup.py says -std=c++20",
    ),
    Code(
        "PIN352",
        INFO,
        "edit cannot be told",
        "An edit of the pinned source has a pattern that is computed, or that has no exact translation: whether it"
        " matches cannot be told without making it. Nothing is guessed.",
        "Look at it when the pin moves; or write the pattern as plain text.",
        'sed -i "s/${OLD}/${NEW}/" DeepGEMM/setup.py',
    ),
)
