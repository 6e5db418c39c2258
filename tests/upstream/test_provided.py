from __future__ import annotations

import pytest

from pinctl.model import SystemPackage
from pinctl.upstream import packages
from pinctl.upstream.headers import provided_alone


@pytest.mark.parametrize(
    "header",
    """vector stdint.h cstdint unistd.h sys/stat.h linux/futex.h netinet/in.h bits/stdc++.h dlfcn.h cxxabi.h immintrin.h
    arm_neon.h omp.h execinfo.h cuda.h cuda_runtime.h cuda_fp8.h cublasLt.h cublas_v2.h cufft.h cusolverDn.h nvrtc.h
    cuda/std/tuple cub/cub.cuh thrust/sort.h nvtx3/nvToolsExt.h cooperative_groups/reduce.h mma.h vector_types.h
    curand_kernel.h cudaTypedefs.h Python.h numpy/arrayobject.h torch/extension.h ATen/ATen.h c10/cuda/CUDAGuard.h
    pybind11/stl.h nanobind/nanobind.h tvm/ffi/function.h dlpack/dlpack.h windows.h intrin.h mach/mach.h
    hip/hip_runtime.h     math_constants.h sanitizer/asan_interface.h __clang_cuda_math.h span coroutine""".split(),
)
def test_there_without_a_package(header: str) -> None:
    assert provided_alone(header)


@pytest.mark.parametrize(
    "header",
    """elfutils/libdwfl.h libelf.h numa.h infiniband/verbs.h rdma/rdma_cma.h mpi.h nvml.h zlib.h zstd.h uuid/uuid.h
    openssl/ssl.h curl/curl.h nccl.h sys/capability.h fmt/format.h cutlass/cutlass.h vendor/x.h unknown.h std.hpp
    tvm/relay/op.h Vector mycuda.h""".split(),
)
def test_not_there_without_one(header: str) -> None:
    assert not provided_alone(header)


@pytest.mark.parametrize(
    ("header", "name", "dnf", "apt"),
    [
        ("elfutils/libdwfl.h", "libdw", "elfutils-devel", "libdw-dev"),
        ("elfutils/anything.h", "libdw", "elfutils-devel", "libdw-dev"),
        ("elfutils/debuginfod.h", "debuginfod", "elfutils-debuginfod-client-devel", "libdebuginfod-dev"),
        ("dwarf.h", "libdw", "elfutils-devel", "libdw-dev"),
        ("gelf.h", "libelf", "elfutils-libelf-devel", "libelf-dev"),
        ("numa.h", "numa", "numactl-devel", "libnuma-dev"),
        ("infiniband/mlx5dv.h", "ibverbs", "rdma-core-devel", "libibverbs-dev"),
        ("rdma/rdma_cma.h", "rdmacm", "rdma-core-devel", "librdmacm-dev"),
        ("zlib.h", "zlib", "zlib-devel", "zlib1g-dev"),
        ("openssl/evp.h", "ssl", "openssl-devel", "libssl-dev"),
        ("curl/curl.h", "curl", "libcurl-devel", "libcurl4-openssl-dev"),
        ("mpi.h", "mpi", "openmpi-devel", "libopenmpi-dev"),
    ],
)
def test_well_known_headers(header: str, name: str, dnf: str, apt: str) -> None:
    library = packages.known(header)
    assert library is not None
    assert (library.name, library.told()["dnf"], library.told()["apt"]) == (name, dnf, apt)


def test_the_table_is_sound() -> None:
    libraries = list(packages.all_known())
    assert len({library.name for library in libraries}) == len(libraries) > 60
    for library in libraries:
        assert library.packages
        assert all(name and " " not in name for names in library.packages.values() for name in names)
    assert packages.known("rdma/ib_user_verbs.h") is None  # of the kernel


def package(header: str | None = None, **managers: str) -> SystemPackage:
    return SystemPackage("x", managers, header)


@pytest.mark.parametrize(
    ("header", "given", "met"),
    [
        ("elfutils/libdwfl.h", package("elfutils/libdwfl.h", dnf="anything"), True),
        ("elfutils/libdw.h", package("elfutils/libdwfl.h", dnf="anything"), True),
        ("dwarf.h", package(dnf="elfutils-devel"), True),
        ("dwarf.h", package(microdnf="elfutils-devel"), True),
        ("dwarf.h", package(apt="libdw-dev"), True),
        ("libelf.h", package(apt="libdw-dev"), True),
        ("dwarf.h", package(apt="libelf-dev"), False),
        ("dwarf.h", package(dnf="libdw-dev"), False),
        ("vendor/a.h", package("vendor/b.h", dnf="vendor"), True),
        ("a.h", package("b.h", dnf="vendor"), False),
        ("sys/capability.h", package("sys/x.h", dnf="x"), False),
    ],
)
def test_what_a_declared_package_provides(header: str, given: SystemPackage, met: bool) -> None:
    assert (packages.declared(header, [given]) is given) is met
