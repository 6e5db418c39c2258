"""Which headers need no package of their own: those of the compiler, the system, CUDA, Python and PyTorch's world, and
those that no build with CUDA on Linux can have.

Provided without being declared, since whoever builds a kernel library has them: the C and C++ standard libraries and
gcc's own headers, POSIX and glibc, Linux, the CUDA toolkit, Python, PyTorch, pybind11, nanobind and tvm-ffi.
"""

import re

_C = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
"""
_CPP = """
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine debugging deque exception execution expected filesystem flat_map flat_set format forward_list fstream
functional future generator hazard_pointer hive initializer_list inplace_vector iomanip ios iosfwd iostream istream
iterator latch limits linalg list locale map mdspan memory memory_resource mutex new numbers numeric optional ostream
print queue random ranges ratio rcu regex scoped_allocator semaphore set shared_mutex simd source_location span
spanstream sstream stack stacktrace stdexcept stdfloat stop_token streambuf string string_view strstream syncstream
system_error text_encoding thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
variant vector version
cassert ccomplex cctype cerrno cfenv cfloat cinttypes ciso646 climits clocale cmath csetjmp csignal cstdalign cstdarg
cstdatomic cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype
"""
_COMPILER = """
cpuid cxxabi immintrin emmintrin xmmintrin pmmintrin tmmintrin smmintrin nmmintrin wmmintrin ammintrin mmintrin
x86intrin x86gprintrin ia32intrin avxintrin avx2intrin arm_acle arm_bf16 arm_fp16 arm_neon arm_sve
arm_sme altivec vecintrin omp omp-tools openacc quadmath unwind varargs stdfix gcov mm_malloc adxintrin bmiintrin
bmi2intrin lzcntintrin popcntintrin rdseedintrin rtmintrin riscv_vector __clang_cuda_builtin_vars __clang_cuda_math
__clang_cuda_device_functions
"""
_SYSTEM = """
aio alloca ar argp argz arpa byteswap cpio crypt dirent dlfcn elf endian envz err error execinfo fcntl features fmtmsg
fnmatch fstab fts ftw getopt glob gnu-versions grp gshadow iconv ieee754 ifaddrs langinfo lastlog libgen libintl link
malloc mcheck memory mntent monetary mqueue netdb nl_types nss obstack paths poll printf proc_service pthread pty pwd
re_comp regex regexp resolv sched search semaphore sgtty shadow spawn stab stdio_ext strings stropts syscall sysexits
syslog tar termio termios thread_db trace ttyent ucontext ulimit unistd ustat utime utmp utmpx values wait wordexp
"""
_CUDA = """
builtin_types channel_descriptor common_functions cooperative_groups cuComplex cuda cudaEGL cudaEGLTypedefs cudaGL
cudaGLTypedefs cudaProfiler cudaProfilerTypedefs cudaTypedefs cudaVDPAU cudalibxt device_atomic_functions
device_double_functions device_functions device_launch_parameters device_types driver_functions driver_types
fatbinary_section fatBinaryCtl host_config host_defines library_types math_constants math_functions mma nvFatbin
nvJitLink nvPTXCompiler nvblas nvjpeg nvperf_host nvrtc nvtx nvToolsExt nvToolsExtCuda nvToolsExtCudaRt nvvm
sm_20_atomic_functions sm_20_intrinsics sm_30_intrinsics sm_32_atomic_functions sm_32_intrinsics sm_35_atomic_functions
sm_35_intrinsics sm_60_atomic_functions sm_61_intrinsics surface_functions surface_indirect_functions surface_types
texture_fetch_functions texture_indirect_functions texture_types vector_functions vector_types cufile cupti
nvtx3 generated_cuda_meta generated_cuda_runtime_api_meta
"""
# Never there where Linux builds: such a header stands under a condition that is not known to exclude Linux.
_FOREIGN = """
windows winsock2 ws2tcpip winnt winbase windef minwindef intrin intsafe io direct process tchar conio crtdbg psapi
dbghelp shlwapi shlobj versionhelpers sdkddkver synchapi processthreadsapi sysinfoapi malloc_np TargetConditionals
AvailabilityMacros Availability CoreFoundation Accelerate libkern mach mach-o os dispatch Foundation Metal IOKit
android emscripten
"""
_STEMS = frozenset(f"{name}.h" for names in (_C, _COMPILER, _SYSTEM, _CUDA, _FOREIGN) for name in names.split())
_NAMES = frozenset({*_CPP.split(), "vector_functions.hpp", "cudart_platform.h", "Python.h", "sleef.h", "pyconfig.h",
                    "structmember.h", "frameobject.h", "patchlevel.h"})  # fmt: skip

_FOLDERS = frozenset(
    (
        # other systems
        "TargetConditionals CoreFoundation Accelerate libkern mach mach-o os dispatch Foundation Metal IOKit android"
        " emscripten winrt hip rocm_smi hipblas hipblaslt hipcub hiprand rocprim rccl miopen ck ck_tile sycl oneapi"
        # gcc, glibc, POSIX and Linux
        " arpa asm asm-generic backward bits debug decimal experimental ext gnu linux misc mtd net netatalk"
        " netax25 neteconet netinet netipx netiucv netpacket netrom netrose nfs parallel protocols pstl rpcsvc"
        " sanitizer scsi sound sys tr1 tr2 video xen"
        # CUDA
        " cooperative_groups crt cub cuda cuda-toolkit nv nvtx3 nvvm thrust cccl cuda_wrappers"
        # Python, PyTorch and what binds to them
        " cpython torch THC ATen c10 caffe2 torchgen pybind11 nanobind numpy dlpack"
    ).split()
)
_PREFIXES = ("tvm/ffi/", "cuda/std/")
_CUDA_LIKE = re.compile(
    r"cu(?:da|blas|fft|rand|sparse|solver|pti|file)[\w]*\.(?:h|hpp|cuh)|np+[a-z_]*\.h|nv(?:rtc|JitLink|PTX)\w*\.h"
)


def provided(name: str) -> bool:
    """Whether the header `name`, as it stands between the angle brackets, is there without a package of its own."""
    folder, slash, _ = name.partition("/")
    if slash:
        return folder in _FOLDERS or name.startswith(_PREFIXES)
    return name in _STEMS or name in _NAMES or _CUDA_LIKE.fullmatch(name) is not None
