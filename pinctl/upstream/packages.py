"""Well-known headers that come with a package of the system, and what that package is called under each manager."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from pinctl.model import SystemPackage

_MANAGERS = ("dnf", "apt", "apk")


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A library with headers; there is one object of each.

    `packages` are its names by manager: each of several names provides it, the first one is told.
    """

    name: str
    packages: Mapping[str, tuple[str, ...]]

    def told(self) -> dict[str, str]:
        """The one name of its package under each manager."""
        return {manager: names[0] for manager, names in self.packages.items()}

    def met_by(self, package: SystemPackage) -> bool:
        """Whether a declared package is this one, under any of its managers."""
        return any(
            package.managers.get(other) in names
            for manager, names in self.packages.items()
            for other in ((manager, "microdnf") if manager == "dnf" else (manager,))
        )


# name | headers, a folder with `/` at its end | dnf | apt | apk; several packages that provide it are split by commas
_TABLE = """
libdw | elfutils/libdw.h elfutils/libdwfl.h elfutils/libdwelf.h elfutils/known-dwarf.h elfutils/version.h dwarf.h elfutils/ | elfutils-devel | libdw-dev | elfutils-dev
libelf | libelf.h gelf.h nlist.h elfutils/elf-knowledge.h libelf/ | elfutils-libelf-devel,elfutils-devel | libelf-dev,libdw-dev | elfutils-dev,libelf-dev
libasm | elfutils/libasm.h | elfutils-devel | libasm-dev | elfutils-dev
debuginfod | elfutils/debuginfod.h | elfutils-debuginfod-client-devel | libdebuginfod-dev | elfutils-dev
libdwarf | libdwarf.h libdwarf/ libdwarf-0/ | libdwarf-devel | libdwarf-dev | libdwarf-dev
libunwind | libunwind.h libunwind-ptrace.h libunwind-dynamic.h | libunwind-devel | libunwind-dev | libunwind-dev
binutils | bfd.h dis-asm.h ansidecl.h libiberty.h demangle.h | binutils-devel | binutils-dev | binutils-dev
backtrace | backtrace.h backtrace-supported.h | libbacktrace-devel | libbacktrace-dev | libbacktrace-dev
numa | numa.h numaif.h numacompat1.h | numactl-devel | libnuma-dev | numactl-dev
hwloc | hwloc.h hwloc/ | hwloc-devel | libhwloc-dev | hwloc-dev
ibverbs | infiniband/ | rdma-core-devel | libibverbs-dev | rdma-core-dev
rdmacm | rdma/rdma_cma.h rdma/rdma_verbs.h rdma/rsocket.h rdma/rdma_cma_abi.h | rdma-core-devel | librdmacm-dev | rdma-core-dev
libfabric | rdma/fabric.h rdma/fi_domain.h rdma/fi_endpoint.h rdma/fi_cm.h rdma/fi_rma.h rdma/fi_tagged.h rdma/fi_errno.h rdma/fi_ext.h | libfabric-devel | libfabric-dev | libfabric-dev
ucx | ucp/ ucs/ uct/ ucm/ | ucx-devel | libucx-dev |
gdrcopy | gdrapi.h gdrconfig.h | gdrcopy-devel | libgdrapi-dev |
mpi | mpi.h mpi-ext.h mpicxx.h | openmpi-devel,mpich-devel,mvapich2-devel | libopenmpi-dev,libmpich-dev,mpi-default-dev | openmpi-dev,mpich-dev
pmix | pmix.h pmix_common.h pmix_server.h | pmix-devel | libpmix-dev | openpmix-dev
nvml | nvml.h | cuda-nvml-devel-13-0,cuda-nvml-devel-12-9,cuda-nvml-devel-12-8,cuda-nvml-devel | cuda-nvml-dev-13-0,cuda-nvml-dev-12-9,cuda-nvml-dev-12-8,libnvidia-ml-dev |
nccl | nccl.h nccl_net.h nccl_device.h nccl_device/ | libnccl-devel | libnccl-dev |
cudnn | cudnn.h cudnn_version.h cudnn_graph.h cudnn_adv.h cudnn_cnn.h cudnn_ops.h cudnn_backend.h | libcudnn9-devel-cuda-13,libcudnn9-devel-cuda-12,cudnn | libcudnn9-dev-cuda-13,libcudnn9-dev-cuda-12,libcudnn9-dev |
nvshmem | nvshmem.h nvshmemx.h nvshmem_host.h nvshmemx_error.h device/nvshmem_defines.h nvshmem/ nvshmemi/ host/nvshmem_api.h | libnvshmem3-devel-cuda-13,libnvshmem3-devel-cuda-12 | libnvshmem3-dev-cuda-13,libnvshmem3-dev-cuda-12 |
tensorrt | NvInfer.h NvInferRuntime.h NvInferPlugin.h NvInferVersion.h NvInferRuntimeCommon.h NvOnnxParser.h | tensorrt-devel | libnvinfer-dev |
opencl | CL/ | opencl-headers | opencl-headers | opencl-headers
zlib | zlib.h zconf.h | zlib-devel,zlib-ng-compat-devel | zlib1g-dev | zlib-dev
zstd | zstd.h zdict.h zstd_errors.h | libzstd-devel | libzstd-dev | zstd-dev
lz4 | lz4.h lz4hc.h lz4frame.h | lz4-devel | liblz4-dev | lz4-dev
lzma | lzma.h lzma/ | xz-devel | liblzma-dev | xz-dev
bzip2 | bzlib.h | bzip2-devel | libbz2-dev | bzip2-dev
brotli | brotli/ | brotli-devel | libbrotli-dev | brotli-dev
snappy | snappy.h snappy-c.h | snappy-devel | libsnappy-dev | snappy-dev
uuid | uuid/uuid.h | libuuid-devel | uuid-dev | util-linux-dev
ssl | openssl/ | openssl-devel | libssl-dev | openssl-dev
curl | curl/ | libcurl-devel | libcurl4-openssl-dev,libcurl4-gnutls-dev,libcurl-dev | curl-dev
xml2 | libxml/ libxml2/ | libxml2-devel | libxml2-dev | libxml2-dev
expat | expat.h | expat-devel | libexpat1-dev | expat-dev
ffi | ffi.h ffitarget.h | libffi-devel | libffi-dev | libffi-dev
archive | archive.h archive_entry.h | libarchive-devel | libarchive-dev | libarchive-dev
sqlite | sqlite3.h sqlite3ext.h | sqlite-devel | libsqlite3-dev | sqlite-dev
readline | readline/ | readline-devel | libreadline-dev | readline-dev
ncurses | ncurses.h curses.h term.h | ncurses-devel | libncurses-dev | ncurses-dev
cap | sys/capability.h | libcap-devel | libcap-dev | libcap-dev
seccomp | seccomp.h | libseccomp-devel | libseccomp-dev | libseccomp-dev
aio | libaio.h | libaio-devel | libaio-dev | libaio-dev
uring | liburing.h liburing/ | liburing-devel | liburing-dev | liburing-dev
udev | libudev.h | systemd-devel | libudev-dev | eudev-dev
systemd | systemd/ | systemd-devel | libsystemd-dev |
pci | pci/ | pciutils-devel | libpci-dev | pciutils-dev
drm | xf86drm.h libdrm/ | libdrm-devel | libdrm-dev | libdrm-dev
nl | netlink/ | libnl3-devel | libnl-3-dev | libnl3-dev
event | event.h event2/ | libevent-devel | libevent-dev | libevent-dev
uv | uv.h uv/ | libuv-devel | libuv1-dev | libuv-dev
zmq | zmq.h zmq.hpp | zeromq-devel | libzmq3-dev | zeromq-dev
jemalloc | jemalloc/ | jemalloc-devel | libjemalloc-dev | jemalloc-dev
tcmalloc | gperftools/ google/tcmalloc.h | gperftools-devel | libgoogle-perftools-dev | gperftools-dev
tbb | tbb/ oneapi/tbb.h oneapi/tbb/ | tbb-devel | libtbb-dev | onetbb-dev
boost | boost/ | boost-devel | libboost-dev,libboost-all-dev | boost-dev
eigen | Eigen/ unsupported/Eigen/ | eigen3-devel | libeigen3-dev | eigen-dev
openblas | cblas.h lapacke.h openblas_config.h | openblas-devel | libopenblas-dev | openblas-dev
hdf5 | hdf5.h H5Cpp.h | hdf5-devel | libhdf5-dev | hdf5-dev
fmt | fmt/ | fmt-devel | libfmt-dev | fmt-dev
spdlog | spdlog/ | spdlog-devel | libspdlog-dev | spdlog-dev
glog | glog/ | glog-devel | libgoogle-glog-dev | glog-dev
gflags | gflags/ | gflags-devel | libgflags-dev | gflags-dev
gtest | gtest/ gmock/ | gtest-devel,gmock-devel | libgtest-dev,libgmock-dev | gtest-dev
benchmark | benchmark/benchmark.h | google-benchmark-devel | libbenchmark-dev | benchmark-dev
absl | absl/ | abseil-cpp-devel | libabsl-dev | abseil-cpp-dev
protobuf | google/protobuf/ | protobuf-devel | libprotobuf-dev | protobuf-dev
grpc | grpc/ grpcpp/ | grpc-devel | libgrpc++-dev | grpc-dev
json | nlohmann/ | json-devel | nlohmann-json3-dev | nlohmann-json
yaml | yaml.h yaml-cpp/ | yaml-cpp-devel,libyaml-devel | libyaml-cpp-dev,libyaml-dev | yaml-cpp-dev,yaml-dev
xxhash | xxhash.h | xxhash-devel | libxxhash-dev | xxhash-dev
re2 | re2/ | re2-devel | libre2-dev | re2-dev
"""  # noqa: E501 - a row is a line


@cache
def _rows() -> tuple[dict[str, Known], tuple[tuple[str, Known], ...]]:
    """The libraries by header, and by folder with the longest first."""
    headers: dict[str, Known] = {}
    folders: list[tuple[str, Known]] = []
    for row in _TABLE.strip().splitlines():
        name, places, *packages = (cell.strip() for cell in row.split("|"))
        named = {m: tuple(cell.split(",")) for m, cell in zip(_MANAGERS, packages, strict=True) if cell}
        known = Known(name, MappingProxyType(named))
        for place in places.split():
            if place.endswith("/"):
                folders.append((place, known))
            else:
                headers[place] = known
    return headers, tuple(sorted(folders, key=lambda pair: -len(pair[0])))


def all_known() -> Iterator[Known]:
    """Every library of the table, once."""
    headers, folders = _rows()
    yield from dict.fromkeys([*headers.values(), *(known for _, known in folders)])


def known(header: str) -> Known | None:
    """The library that `header` comes with; None for one that the table lacks."""
    headers, folders = _rows()
    return headers.get(header) or next((found for folder, found in folders if header.startswith(folder)), None)


def declared(header: str, packages: Iterable[SystemPackage]) -> SystemPackage | None:
    """The declared package that provides `header`: by the header that it names, its folder, or the table."""
    library = known(header)
    for package in packages:
        if package.header and (package.header == header or _same_folder(package.header, header)):
            return package
        if library and library.met_by(package):
            return package
    return None


def _same_folder(a: str, b: str) -> bool:
    """Whether two headers lie in one folder of their own, such as `elfutils/`; what lies in `sys/` is everybody's."""
    folder = a.rpartition("/")[0]
    return bool(folder) and folder == b.rpartition("/")[0] and folder not in ("sys", "linux", "net", "rdma")
