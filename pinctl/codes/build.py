"""PIN650 to PIN699: the matrix of wheels, and what building them shows."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN650",
        ERROR,
        "cell cannot be built",
        "Something is not known without which no wheel of a pin can be built for a variant: the pin's full commit, or"
        " the variant's image, Pythons, platforms, package manager or platform tag.",
        "Write what the message names. For variants called cu12 and cu13 pinctl knows the image and what is in it.",
        '[variants.cu14]\ncuda = "14.0"    # no image',
    ),
    Code(
        "PIN651",
        ERROR,
        "two variants with one name",
        "Wheels of two variants of a pin would have the same file name. Nothing in a name but the local label tells"
        " them apart, so one would be installed for the other. Or two cells have one name, by which their logs and"
        " results are kept: those of pin `a` for variant `b-c` and of pin `a-b` for variant `c`.",
        "Give all variants but the one for PyPI a label of their own; give one of the pins or variants another name.",
        "[variants.cu12]\n[variants.cu13]    # neither has a label",
    ),
    Code(
        "PIN652",
        ERROR,
        "build failed",
        "A container did not bring forth the wheel. The message holds the step and its last lines; the log file has"
        " all of them.",
        "Mend what the last lines name, and run the build again: cells that were built stay built.",
        "kernel.cpp:3:1: error: 'foo' does not name a type",
    ),
    Code(
        "PIN653",
        ERROR,
        "header missing in the image",
        "A compiler did not find a header of a library that comes with a system package.",
        "Declare the package under `system_packages`, as the hint says.",
        "fatal error: elfutils/libdwfl.h: No such file or directory",
    ),
    Code(
        "PIN654",
        WARNING,
        "memory ran out",
        "The kernel killed a compiler for the memory that it took, and the cell was built again with half the jobs.",
        "Raise `gib_per_job` in the recipe, build fewer cells at once (`--jobs`), or take a larger machine.",
        "g++: fatal error: Killed signal terminated program cc1plus",
    ),
    Code(
        "PIN655",
        WARNING,
        "image without digest",
        "A variant names its image by a tag, which can come to mean another image. The key of a cell then holds the"
        " image that this machine has at the moment, and another machine may build other bytes.",
        'Write the image\'s digest: `digest = "sha256:..."`.',
        'image = "pytorch/manylinux2_28-builder:cuda13.0"    # and no digest',
    ),
    Code(
        "PIN656",
        WARNING,
        "build requires not locked",
        "What a build needs of a package index is named without digests, so that it takes what the index offers at"
        " the moment, and the key does not tell.",
        "Write a requirements file with digests (`uv pip compile --generate-hashes`), and name it as `wheel.lock`.",
        'requires = ["setuptools>=77"]    # and no lock',
    ),
    Code(
        "PIN657",
        WARNING,
        "exclude without a cell",
        "An entry of `wheel.exclude` leaves out nothing: the matrix has moved on, or it is misspelt.",
        "Drop it, or correct it.",
        '[[pins.deepgemm.wheel.exclude]]\npython = "3.9"\nreason = "no torch"',
    ),
    Code(
        "PIN658",
        WARNING,
        "cached wheel corrupt",
        "A wheel in the cache is not what was put there: its digest is another. It was built again.",
        "Look to the disk, and to who may write to the cache.",
        "sha256 of the file is e3b0c442..., and it was kept as ad1f1726...",
    ),
    Code(
        "PIN659",
        ERROR,
        "wheel does not work",
        "The wheel was built, and cannot be installed or imported in a clean container of its variant, or the recipe's"
        " smoke test fails.",
        "The last lines say what is missing: a library that the variant does not bring, a symbol of another torch.",
        "ImportError: libcudart.so.12: cannot open shared object file",
    ),
    Code(
        "PIN660",
        INFO,
        "try was not whole",
        "The smoke test of the recipe left out a part, for the reason told: as a rule since containers of a build see"
        " no GPU.",
        "Run `pinctl test` on a machine that has what is missing.",
        "skipped: the FP8 product needs a GPU, and there is none",
    ),
    Code(
        "PIN661",
        ERROR,
        "build is not reproducible",
        "The same cell was built twice, and the wheels differ in the members that the message names.",
        "Look at the members with diffoscope: times, paths of temporary folders, the order of a directory's entries.",
        "kernel/_C.abi3.so differs",
    ),
    Code(
        "PIN662",
        INFO,
        "cell of another platform",
        "A cell is of a platform that this machine is not, and was left out.",
        "Run it there; or name a builder that has the platform with `--builder`, or the platform with `--platform`.",
        'platforms = ["linux/amd64", "linux/arm64"]',
    ),
    Code(
        "PIN663",
        ERROR,
        "two cells with one name",
        "Wheels of several Pythons have the same file name, since what was built is for all of them (`py3-none`,"
        " `abi3`). Only one of the files can be delivered and published.",
        "Build such a wheel for one Python alone: exclude the others, with that as the reason.",
        '[[pins.kernel.wheel.exclude]]\npython = "3.12"\nreason = "the wheel of 3.11 is abi3"',
    ),
    Code(
        "PIN670",
        ERROR,
        "build argument unknown",
        "A build argument of an image cannot be given a value: the pin that it names is not resolved yet, or its"
        " template stands for several values.",
        "Run `pinctl bump --resolve`, or name one fact.",
        'args.DEEPGEMM_REF = "{pins.deepgemm.commit}"    # unresolved = "73b6ea4"',
    ),
    Code(
        "PIN671",
        ERROR,
        "wheel cannot be named",
        "An image wants the wheel of a pin, and there is no one wheel to name: none is recorded for the variant, Python"
        " and platform, several are, or nothing says under which name PyPI has it.",
        "Publish the wheel and add it to the records of the index; or write what the hint names.",
        'wheels.DEEPGEMM = "deepgemm"    # variant = "cu12", and the records have none with +cu129',
    ),
    Code(
        "PIN672",
        ERROR,
        "build argument not taken",
        "The Docker file of an image has no ARG for a value that pins.toml gives it. Docker passes over it with a"
        " warning, and the image is built from whatever the file says.",
        "Write the ARG into the stage that uses it, or drop the entry.",
        'args.DEEPGEMM_REF = "{pins.deepgemm.commit}"    # no ARG DEEPGEMM_REF',
    ),
    Code(
        "PIN673",
        ERROR,
        "image build failed",
        "Docker could not build an image. The message holds the step and its last lines; the log file has all of them.",
        "Mend what the last lines name.",
        'ERROR: process "/bin/sh -c pip install ..." did not complete successfully',
    ),
)
