"""Print the compiler's include flags for DeepGEMM's extension: `build_deepgemm.py SOURCE_DIR CUDA_HOME`."""

import sys
from pathlib import Path

src, cuda_home = Path(sys.argv[1]), sys.argv[2]

includes = [
    f"{cuda_home}/include",
    f"{cuda_home}/include/cccl",
    str(src / "csrc"),
    str(src / "deep_gemm/include"),
    str(src / "third-party/cutlass/include"),
    str(src / "third-party/cutlass/tools/util/include"),
    str(src / "third-party/deep_jit/include"),
]

print(" ".join(f"-I{path}" for path in includes))
