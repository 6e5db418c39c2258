include(FetchContent)

# A local tree wins over the download: DEEPGEMM_SRC_DIR, as a cache variable or in the environment.
if(DEFINED ENV{DEEPGEMM_SRC_DIR})
  set(DEEPGEMM_SRC_DIR "$ENV{DEEPGEMM_SRC_DIR}")
endif()

set(_DEEPGEMM_REPO "https://github.com/vllm-project/DeepGEMM.git")
set(_DEEPGEMM_REF "ad1f1726aa540a76c1d26d6a120effb8de21eaa4")

if(DEEPGEMM_SRC_DIR)
  FetchContent_Declare(deepgemm SOURCE_DIR "${DEEPGEMM_SRC_DIR}")
else()
  FetchContent_Declare(
    deepgemm
    GIT_REPOSITORY "${_DEEPGEMM_REPO}"
    GIT_TAG "${_DEEPGEMM_REF}"
    # The extension includes both; fmt went away with 2.8.
    GIT_SUBMODULES "third-party/cutlass" "third-party/deep_jit"
    GIT_PROGRESS TRUE
  )
endif()
FetchContent_MakeAvailable(deepgemm)

# A header-only change upstream must rebuild the extension.
file(GLOB_RECURSE _deepgemm_headers
  "${deepgemm_SOURCE_DIR}/csrc/*.hpp"
  "${deepgemm_SOURCE_DIR}/deep_gemm/include/*.cuh")
