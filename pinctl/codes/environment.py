"""PIN8xx: what can be wrong with the machine that pinctl runs on, and with the environment that pins run in."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN801",
        ERROR,
        "tool missing",
        "A program that pinctl needs is not installed, or is too old.",
        "Install the version that the message names.",
        "git 2.30 is installed, and 2.39.4 is needed",
    ),
    Code(
        "PIN802",
        ERROR,
        "git failed",
        "A git command failed; the message holds what git said.",
        "Run the command that the message shows by hand.",
        "fatal: unable to access 'https://github.com/example/kernels.git/'",
    ),
    Code(
        "PIN803",
        ERROR,
        "file system",
        "A file could not be read or written. Nothing is half written: the plan is applied as a whole or not at all.",
        "Free space or correct the permissions that the message names, and run again.",
        "No space left on device",
    ),
    Code(
        "PIN810",
        WARNING,
        "pin not installed",
        "No distribution of a pin is installed. An error where the pin was asked for by name, or an image is to"
        " have its wheel.",
        "Install it; or give the pin its `packages` or `contract.import_names`, where it goes by another name.",
        "pins.flashinfer: no flashinfer-python among the installed distributions",
    ),
    Code(
        "PIN811",
        ERROR,
        "other version installed",
        "Another version of a pin is installed than pins.toml says.",
        "Install the version that pins.toml has, or run `pinctl bump`.",
        'version = "0.1.11"    # tilelang 0.1.9 is installed',
    ),
    Code(
        "PIN812",
        ERROR,
        "other build installed",
        "What is installed of a pin was built from another commit, other patches or for another variant than"
        " pins.toml says: its provenance, or what pip wrote down of its source, tells.",
        "Install the wheel of the pinned commit; `pinctl build` makes it.",
        "commit 891d57b...    # pins.toml: a6b593d...",
    ),
    Code(
        "PIN813",
        INFO,
        "origin not known",
        "Nothing in what is installed of a pin says which commit it was built from: only its version could be"
        " compared.",
        "Build it with `pinctl build`, which writes it down.",
        "deep_gemm-2.8.0.dist-info has no pinctl-provenance.json",
    ),
    Code(
        "PIN814",
        ERROR,
        "other CUDA installed",
        "An extension asks for libraries of another CUDA than torch was built for, or torch is of another than the"
        " variant. It fails to load, or two runtimes share a process.",
        "Install the wheel of the variant that fits the torch which is there, or the other torch.",
        "libcudart.so.12 is needed    # torch 2.13.0+cu130",
    ),
    Code(
        "PIN815",
        ERROR,
        "other torch installed",
        "Another torch is installed than the one that a pin was compiled for, or than the variant has. Its C++"
        " interface changes from version to version.",
        "Install the torch that the message names, or build the pin for the one that is there.",
        "compiled for torch 2.11.0    # torch 2.13.0 is installed",
    ),
    Code(
        "PIN816",
        ERROR,
        "two distributions for one name",
        "Two distributions, or two copies of one, bring what is imported under a name of a pin. Which of them is"
        " imported is a matter of chance.",
        "Uninstall the one that is not meant.",
        "deep-gemm and sgl-deep-gemm both bring deep_gemm",
    ),
    Code(
        "PIN817",
        ERROR,
        "import fails",
        "What a pin is imported as cannot be imported; the message holds the error.",
        "See what the error names: a library of another CUDA, another torch, a missing dependency.",
        "ImportError: libcudart.so.12: cannot open shared object file",
    ),
    Code(
        "PIN818",
        ERROR,
        "import crashes",
        "The process that imported a pin was ended by a signal.",
        "Run the command of the hint under gdb; an extension for another torch or Python is the usual cause.",
        "SIGSEGV while deep_gemm was imported",
    ),
    Code(
        "PIN819",
        ERROR,
        "import hangs",
        "The import of a pin did not end in time.",
        "Raise `--timeout` where it compiles at import; otherwise run the command of the hint, and see where it waits.",
        "import deep_gemm took longer than 60 s",
    ),
    Code(
        "PIN820",
        ERROR,
        "required name missing",
        "A name that `contract.requires` of a pin asks for is not there, or takes other parameters, in what is"
        " installed.",
        "Install the pinned version; `pinctl contract` tells which commits have the name.",
        'requires = ["mega_mhc"]    # deep_gemm 2.6.1 has none',
    ),
    Code(
        "PIN821",
        WARNING,
        "cache older than the pin",
        "Kernels that were compiled at run time are older than what is installed of the pin. Where a cache is not"
        " keyed by all that goes into a kernel, old ones are used.",
        "Remove the folder: it fills again.",
        "~/.deep_gemm: 12 entries older than deep_gemm 2.8.0",
    ),
    Code(
        "PIN822",
        WARNING,
        "file not looked into",
        "A file of what is installed cannot be read, or is larger than is looked into.",
        "See what the message says.",
        "deep_gemm/_C.so has more than 256 MiB",
    ),
    Code(
        "PIN823",
        ERROR,
        "environment cannot be read",
        "The Python that was named cannot be asked what is installed.",
        "Name the python program of a virtual environment, of version 3.8 or later.",
        "pinctl doctor --python /bin/true",
    ),
    Code(
        "PIN830",
        ERROR,
        "image without labels",
        "An image has no labels of pinctl, so that nothing says which pins it was built from.",
        "Build it with `pinctl image`, or from the file that `pinctl image --bake` writes.",
        "docker image inspect engine:cu12",
    ),
    Code(
        "PIN831",
        ERROR,
        "image of other pins",
        "An image's labels name another commit, version or variant than pins.toml.",
        "Build it again with `pinctl image`, or put pins.toml back.",
        "dev.pinctl.pin.deepgemm=891d57b...    # pins.toml: a6b593d...",
    ),
    Code(
        "PIN832",
        ERROR,
        "image cannot be read",
        "The file system of an image, as docker hands it out, is no archive that can be read, or larger than is"
        " looked into.",
        "Look at it with `docker export`.",
        "it is cut off",
    ),
)
