"""What a wheel of DeepGEMM must do wherever it is imported, and one product where there is a GPU for it."""

import importlib.metadata

import deep_gemm
import torch

assert deep_gemm.__version__ == importlib.metadata.version("deep_gemm").partition("+")[0]
assert callable(deep_gemm.fp8_gemm_nt)
if not torch.cuda.is_available():
    print("skipped: the FP8 product needs a GPU, and there is none")
elif torch.cuda.get_device_capability()[0] < 9:
    print("skipped: the FP8 product needs compute capability 9.0 or newer")
else:
    x, y = torch.randn(256, 512, device="cuda"), torch.randn(128, 512, device="cuda")
    a = (x.to(torch.float8_e4m3fn), torch.ones(256, 4, device="cuda"))
    b = (y.to(torch.float8_e4m3fn), torch.ones(1, 4, device="cuda"))
    out = torch.empty(256, 128, device="cuda", dtype=torch.bfloat16)
    deep_gemm.fp8_gemm_nt(a, b, out)
    expected = a[0].float() @ b[0].float().T
    error = (out.float() - expected).abs().max() / expected.abs().max()
    assert error < 0.01, error
