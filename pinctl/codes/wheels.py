"""PIN600 to PIN649: what one wheel file says against itself, or against pins.toml."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN600",
        ERROR,
        "archive malformed",
        "The wheel is no zip archive that all programs read alike and unpack without harm: it has two directories,"
        " bytes that belong to no member, a name twice, a name that leaves the folder, a link, or unpacks to far more"
        " than its size. `wheel` looks no further into it.",
        "Do not install it. A plain build writes none of this: find out where the file came from.",
        "../../bin/python: its name leaves the folder, or is no plain path",
    ),
    Code(
        "PIN601",
        ERROR,
        "wheel misnamed",
        "The file name is not DISTRIBUTION-VERSION-PYTHON-ABI-PLATFORM.whl, or (a warning) is not spelled as its"
        " parts are normalised: lower case, `_`, the version of PEP 440. Indexes and installers compare the normalised"
        " name.",
        "Build it with a current backend, or rename it with `pinctl wheel relabel`, which changes what is inside, too.",
        "DeepGEMM-2.8.0-cp312-cp312-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN602",
        ERROR,
        "dist-info wrong",
        "A wheel has exactly one .dist-info folder, of the name and version of the file, with METADATA, WHEEL and"
        " RECORD in it; its .data folder is named alike. pip refuses a mismatch and uv installs it, so that the same"
        " file works for some.",
        "Build it again; to change the version or its label, use `pinctl wheel relabel`.",
        "kernel-1.0+cu129-...whl    # holds kernel-1.0.dist-info",
    ),
    Code(
        "PIN603",
        ERROR,
        "METADATA disagrees",
        "Name or Version in METADATA is not that of the file name, stands twice, or METADATA is not made of headers.",
        "Use `pinctl wheel relabel` to change a label: it changes all places together.",
        "Version: 1.0    # the file is kernel-1.0+cu129-...whl",
    ),
    Code(
        "PIN604",
        ERROR,
        "WHEEL disagrees",
        "The tags or the build number in WHEEL are not those of the file name, or WHEEL is not made of headers. What"
        " renamed the file did not change what is inside.",
        "Retag with a tool that does both (`wheel tags`), or build it again.",
        "Tag: cp312-cp312-linux_x86_64    # the file is ...-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN605",
        ERROR,
        "RECORD wrong",
        "RECORD does not list exactly the files that are there, each once, with the sha256 and the size that it has."
        " pip installs such a wheel all the same, with files that nobody accounts for: an unlisted .pth file is"
        " executed at every start of Python.",
        "Do not install it; build it again, or get it again from where it was published.",
        "RECORD does not list files that are there: evil.pth",
    ),
    Code(
        "PIN606",
        ERROR,
        "pure and native",
        "The wheel holds native code, and says that it does not: Root-Is-Purelib is true, or the platform tag is"
        " `any`. It is installed into the wrong folder, or on machines where it cannot work.",
        "Build it as a platform wheel; auditwheel's repair mends the flag.",
        "Root-Is-Purelib: true    # and kernel/_C.abi3.so",
    ),
    Code(
        "PIN607",
        ERROR,
        "newer than its tag",
        "A library in the wheel needs a version of glibc's or libstdc++'s symbols that systems of the platform tag do"
        " not have. It installs there, and fails when it is imported.",
        "Build it in an image as old as the tag, or repair it for a tag that is true. Renaming the file mends nothing.",
        "kernel/_C.so needs GLIBC_2.34    # manylinux2014: at most GLIBC_2.17",
    ),
    Code(
        "PIN608",
        ERROR,
        "wheel not repaired",
        "The platform tag is linux_MACHINE, which promises nothing of the libraries that it needs. PyPI refuses it.",
        "Run auditwheel's repair on it, with `--exclude` for what torch and the driver bring.",
        "kernel-1.0-cp312-cp312-linux_x86_64.whl",
    ),
    Code(
        "PIN609",
        WARNING,
        "no native code",
        "The wheel is tagged for one platform, and no ELF file is in it. A build that skips its extension where a"
        " compiler or a header is missing looks like this.",
        "Look into the build's log. A wheel without native code is tagged `py3-none-any`.",
        "kernel-1.0-cp312-cp312-manylinux_2_28_x86_64.whl    # 12 files, none of them ELF",
    ),
    Code(
        "PIN610",
        ERROR,
        "other machine",
        "A library in the wheel is for another machine than the platform tag says.",
        "Build every platform from a clean folder.",
        "kernel/_C.so is for x86_64    # in a wheel for manylinux_2_28_aarch64",
    ),
    Code(
        "PIN611",
        ERROR,
        "other CUDA",
        "A library in the wheel needs libraries of another CUDA than the variant, or than the wheel's label, says."
        " Nothing in the name of a wheel without a label would tell. Where it is not known for which CUDA the wheel"
        " is, libraries of two are a warning.",
        "Build it with the toolkit of the variant, from a clean folder.",
        "kernel/_C.so needs libcudart.so.12    # in a wheel of cu13",
    ),
    Code(
        "PIN612",
        ERROR,
        "library bundled",
        "The wheel brings a copy of a library that the driver, NVIDIA's packages or torch bring. A process then has"
        " two of them, or the wrong one; the driver's must be that of the machine.",
        "Repair the wheel with `--exclude` for the library, by its SONAME: `libnvrtc.so` does not match"
        " `libnvrtc.so.13`.",
        "kernel.libs/libcudart-3f2a1b4c.so.13.0.96",
    ),
    Code(
        "PIN613",
        ERROR,
        "RPATH leads outside",
        "A library looks for others in a folder that is absolute, or not below site-packages: on another machine it"
        " finds nothing there, or what somebody else put there.",
        "Set it to `$ORIGIN/...` with patchelf or at link time; for what torch brings none is needed.",
        "RUNPATH /usr/local/cuda/lib64",
    ),
    Code(
        "PIN614",
        ERROR,
        "other Python",
        "An extension is for one version of Python alone, and the wheel's tags say another; a warning where they say"
        " more than that one.",
        "Build every Python from a clean folder, or build for the stable ABI.",
        "kernel/_C.cpython-311-x86_64-linux-gnu.so    # in a wheel for cp312",
    ),
    Code(
        "PIN615",
        ERROR,
        "stable ABI left",
        "The wheel is tagged abi3, and an extension uses names of CPython that are not in the stable ABI of the"
        " oldest Python of the tag. It fails to load on some Pythons that the tag admits.",
        "Compile with Py_LIMITED_API of that Python, or tag the wheel for a later one.",
        "PyErr_GetRaisedException (since 3.12)    # in a wheel for cp39-abi3",
    ),
    Code(
        "PIN616",
        INFO,
        "stable ABI not checked",
        "Whether an extension keeps to the stable ABI was not looked at: abi3info, which knows its names, is not"
        " there.",
        "Install `pinctl[wheels]`.",
        "kernel-1.0-cp39-abi3-manylinux_2_28_x86_64.whl",
    ),
    Code(
        "PIN617",
        ERROR,
        "ELF file broken",
        "A file begins as an ELF file and cannot be read as one. It cannot be loaded, and nothing was checked of it.",
        "Build it again; look at it with `readelf -a`.",
        "kernel/_C.so: it is cut off",
    ),
    Code(
        "PIN618",
        ERROR,
        "second standard library",
        "An extension holds a libstdc++ that was linked in, and is loaded beside torch's. The two share symbols by"
        " chance: std::regex was seen to crash, as its locale is of one and its code of the other. A warning where the"
        " extension itself does not need torch's libraries.",
        "Link without -static-libstdc++.",
        "g++ -shared -static-libstdc++ ... -ltorch",
    ),
    Code(
        "PIN619",
        ERROR,
        "architecture missing",
        "The variant declares an architecture for which no fat binary in the wheel holds code. Kernels fail on such a"
        " machine, or are compiled there at their first run.",
        "Quote the list where the build passes it on: CMake and shells cut an unquoted one at its first `;`.",
        'arch_list = ["9.0a", "10.0f"]    # the wheel has sm_90a',
    ),
    Code(
        "PIN620",
        INFO,
        "no GPU code seen",
        "There is no fat binary in the wheel, or none that can be read, so that the architectures of the variant are"
        " not held against anything.",
        "Right for kernels that are compiled at run time. Otherwise the build left CUDA out: look into its log.",
        'arch_list = ["9.0a"]    # DeepGEMM compiles at run time',
    ),
    Code(
        "PIN621",
        ERROR,
        "wheel too large",
        "The wheel is larger than the place that it goes to takes: 100 MiB on PyPI by default, 2 GiB as an asset of a"
        " GitHub release, or `--max-size`. A warning where it is not known where it goes.",
        "Build for fewer architectures, strip the libraries, or ask PyPI for more.",
        "kernel-1.0-cp312-cp312-manylinux_2_28_x86_64.whl has 510.8 MiB",
    ),
    Code(
        "PIN622",
        ERROR,
        "file missing",
        "Nothing in the wheel matches a pattern of the files that it must have: those of its recipe, and"
        " `wheel.options.requires_files` of the pin.",
        "Look into the build's log, and at the package data of its setup.",
        'wheel.options.requires_files = ["deep_gemm/include/**"]',
    ),
    Code(
        "PIN623",
        ERROR,
        "label disagrees",
        "The local version label of the wheel is not that of the variant: it would be taken for another, or cannot be"
        " told from one.",
        "Run the `pinctl wheel relabel` that the hint gives, or say the `label` of the variant in pins.toml.",
        'label = "cu129"    # kernel-1.0-cp312-...whl',
    ),
    Code(
        "PIN624",
        ERROR,
        "not of the variant",
        "The tags of the wheel are for a Python or a machine that the variant does not list, or for a later glibc.",
        "Verify it against its own variant, or add what is missing to the variant.",
        'python = ["3.12"]    # kernel-1.0-cp314-cp314-...whl',
    ),
    Code(
        "PIN625",
        ERROR,
        "torch disagrees",
        "METADATA asks for another torch than that of the variant; or (a warning) an extension needs torch's"
        " libraries, and nothing tells which torch it was compiled for. With another one it fails to load, or worse.",
        "Add `torch==X.Y` to the dependencies of the package, or build it with `pinctl build`, which writes it down.",
        "Requires-Dist: torch==2.9.1    # the variant has 2.13.0",
    ),
    Code(
        "PIN626",
        ERROR,
        "provenance disagrees",
        "The wheel says that it was built of another commit, other submodules or patches, or for another variant,"
        " CUDA, torch or image than pins.toml says today.",
        "Build it again with `pinctl build`, or put pins.toml back.",
        "commit 891d57b...    # pins.toml: a6b593d...",
    ),
    Code(
        "PIN627",
        WARNING,
        "provenance missing",
        "The wheel was held against a pin, and does not say what it was built of: nothing shows that it is that pin.",
        "Build it with `pinctl build`.",
        "kernel-1.0.dist-info has no pinctl-provenance.json",
    ),
    Code(
        "PIN628",
        ERROR,
        "other version",
        "The wheel's version, without its label, is not the one that pins.toml has for the pin.",
        "Correct `version` of the pin; `pinctl verify` compares it with what the source says.",
        'version = "2.8.0"    # deep_gemm-2.6.1-...whl',
    ),
    Code(
        "PIN629",
        ERROR,
        "relabel refused",
        "The wheel cannot be relabelled: what it holds is not what its RECORD says, or its names disagree. A new"
        " RECORD would hide that.",
        "Mend what `pinctl wheel verify` tells of it first.",
        "kernel/_C.so is not what RECORD says",
    ),
)
