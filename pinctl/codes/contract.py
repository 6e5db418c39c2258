"""PIN4xx: what the consumer asks of a pinned package, against what the package gives."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

CODES = (
    Code(
        "PIN401",
        ERROR,
        "call breaks",
        "HARD: an import, an attribute or a call fails with the new commit, since the name or the keyword is gone, or a"
        " parameter that is new must be given. The message says whether it fails when the module is imported or when"
        " the function is called.",
        "Change the call as the hint says, in the same commit as the pin; or stay at the old one.",
        "from deep_gemm.mega import _interleave_l1_weights    # it is called _interleave_weights now",
    ),
    Code(
        "PIN402",
        ERROR,
        "breaks in silence",
        "SILENT: what is asked for is gone, and nobody will see an error: a default of getattr, hasattr or a caught"
        " exception takes its place, and a slower path or none at all runs.",
        "Ask for the new name, or require the old one under `requires`.",
        'impl = getattr(deep_gemm, "fp8_m_grouped_gemm_nt_masked", None)    # the alias was removed',
    ),
    Code(
        "PIN403",
        ERROR,
        "argument moves",
        "REBIND: the call still fits, but an argument that is given by position lands in another parameter: one was put"
        " in or taken out before it, or two were swapped.",
        "Give the argument by keyword, or in its new place.",
        "gemm(a, b, out)    # was gemm(a, b, d), is gemm(a, b, scale, d=None)",
    ),
    Code(
        "PIN404",
        ERROR,
        "module not shipped",
        "VENDOR: importing a module that is used imports a file that the consumer's build does not copy, so the import"
        " fails in every installed copy, and in no checkout.",
        "Add the file, or its folder, to the copy rules that the finding names.",
        "install(FILES ${deepgemm_SOURCE_DIR}/deep_gemm/__init__.py ...)    # which imports .mega now",
    ),
    Code(
        "PIN405",
        ERROR,
        "build path gone",
        "PATH: a file of the build names a path, a glob or a submodule of the pinned tree that the new commit does not"
        " have.",
        "Correct the build file; the hint lists folders of the same name.",
        'str(src / "third-party/fmt/include")    # third-party/fmt is gone',
    ),
    Code(
        "PIN406",
        WARNING,
        "may break",
        "MAYBE: it fails if what cannot be seen is not there: names that are computed, arguments that `*args` and"
        " `**kwargs` pass on, an import that only type checkers follow.",
        "Look at the place that the message names.",
        "def gemm(*args, **kwargs): return deep_gemm.gemm(*args, **kwargs)    # `recipe` must be given now",
    ),
    Code(
        "PIN407",
        WARNING,
        "private name",
        "PRIVATE: the consumer uses a name that begins with an underscore. Nobody promises that it stays.",
        "Use the public name, or keep a copy of what is needed.",
        "from deep_gemm.mega import _interleave_weights",
    ),
    Code(
        "PIN408",
        WARNING,
        "newly conditional",
        "GUARD: the name is compiled only under a condition that the old commit did not have. Which conditions hold"
        " where it is built cannot be seen.",
        "Make sure that the condition holds for every variant that is built.",
        "#if DG_FP8_COMPATIBLE and DG_TENSORMAP_COMPATIBLE    # around m.def(...)",
    ),
    Code(
        "PIN409",
        WARNING,
        "default changes",
        "DEFAULT: a parameter that the call leaves out has another default than before.",
        "Give the old value, if that is the one that is meant.",
        'gemm(a, b)    # compiled_dims was "nk", and is "mn" now',
    ),
    Code(
        "PIN410",
        WARNING,
        "type changes",
        "TYPE: a parameter that the call gives is declared with another type. C++, operator schemas and Python are"
        " compared in one spelling.",
        "Make sure that what is given is of the new type.",
        "gemm(a, b, m)    # m was int, and is torch.Tensor now",
    ),
    Code(
        "PIN411",
        WARNING,
        "parameter renamed",
        "RENAMED: a parameter that the call gives by position has another name, at the same place; neither name is"
        " elsewhere. Most often it is the same parameter.",
        "Nothing, if it means the same; by keyword the call would fail.",
        "grouped_gemm(a, b, d, m_indices)    # the fourth is called grouped_layout now",
    ),
    Code(
        "PIN412",
        INFO,
        "falls back",
        "FALLBACK: the name is gone, and another one that the code tries in its place is there.",
        "Nothing; when no supported version has the old name, drop it.",
        'getattr(m, "fp8_gemm", None) or getattr(m, "gemm_fp8", None)',
    ),
    Code(
        "PIN413",
        INFO,
        "newly found",
        "GAINED: a name that the code looks for, and did not find before, is there now: another path is taken.",
        "Nothing, if the new path is meant.",
        'if hasattr(deep_gemm, "set_pdl"): deep_gemm.set_pdl(True)',
    ),
    Code(
        "PIN414",
        INFO,
        "fails in silence",
        "FRAGILE: should the name go at the next bump, this use would fail without an error: getattr with a default"
        " that nothing checks, a broad except around a call, `a or b` that takes a zero for nothing. Told with"
        " `--lint`.",
        "Ask for the name plainly, or check what came of it and say so.",
        'impl = getattr(deep_gemm, "fp8_gemm_nt", None)',
    ),
    Code(
        "PIN415",
        ERROR,
        "requirement not met",
        "The pinned tree does not offer what `requires` asks for: a name, or a call with these keywords. It is held"
        " against the new commit alone.",
        "Pin a commit that has it; the hint names the first one on the tracked branch, where there is one.",
        'requires = ["mega_mhc"]    # not in deep_gemm at this commit',
    ),
    Code(
        "PIN416",
        INFO,
        "wrong before",
        "The consumer asks for something that neither the new commit has nor the old one had. It did not come with the"
        " move, and fails nothing.",
        "Look at it when there is time; `-v` lists each.",
        "3 uses were as wrong before",
    ),
    Code(
        "PIN417",
        WARNING,
        "not looked into",
        "A file of the consumer or of the pinned tree could not be read or parsed: what it uses or offers is not seen.",
        "Mend the file, or leave its folder out of `consumer_roots`.",
        "vllm/broken.py: invalid syntax (line 3)",
    ),
)
