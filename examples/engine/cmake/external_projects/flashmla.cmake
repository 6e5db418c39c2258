# pinctl:flashmla fetchcontent (generated from pins.toml; run `pinctl sync`) sha256:f9c9d3aab8b5291a
# flashmla at its pin, in ${FETCHCONTENT_BASE_DIR}/flashmla-src. Sets
#   flashmla_SOURCE_DIR, flashmla_BINARY_DIR
#   flashmla_PIN_ID        what the source is, for a compile definition: the commit and the patches on it
#   flashmla_INCLUDE_DIRS  the include directories
#   flashmla_HEADERS       the headers
#   flashmla_DEPENDS       for the DEPENDS of custom commands: the headers, and a file that changes with the pin
# and heeds, as environment variables or else as -D on CMake's command line,
#   FLASHMLA_SRC_DIR  a source tree to take as it is instead; a relative path begins at CMAKE_SOURCE_DIR
#   PINCTL_GIT_MIRROR  where https://HOST/PATH is fetched from, as MIRROR/HOST/PATH, submodules too
if(CMAKE_VERSION VERSION_LESS 3.18)
  message(FATAL_ERROR "flashmla: CMake 3.18 or newer is needed")
endif()
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.29)
include(FetchContent)

function(_pinctl_flashmla)
  set(origin "https://github.com/vllm-project/FlashMLA.git")
  set(commit "a8f794d1251cbfd88a5011445dd5582289c727e4")
  set(identity "${commit}")
  set(source "${FETCHCONTENT_BASE_DIR}/flashmla-src")
  set(binary "${FETCHCONTENT_BASE_DIR}/flashmla-build")
  set(state "${FETCHCONTENT_BASE_DIR}/flashmla-pin")
  set(patches "")
  set(digests "")
  _pinctl_flashmla_setting(mirror PINCTL_GIT_MIRROR)
  string(REGEX REPLACE "/+$" "" mirror "${mirror}")
  _pinctl_flashmla_setting(local FLASHMLA_SRC_DIR)
  if(local STREQUAL "")
    set(local "${FETCHCONTENT_SOURCE_DIR_FLASHMLA}")
  endif()
  if(NOT local STREQUAL "")
    get_filename_component(source "${local}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
    if(NOT IS_DIRECTORY "${source}")
      message(FATAL_ERROR "FLASHMLA_SRC_DIR is no directory: ${source}")
    endif()
    set(identity "local")
  endif()

  FetchContent_Declare(flashmla
    GIT_REPOSITORY "${origin}"
    GIT_TAG "${commit}"
    GIT_SUBMODULES_RECURSE FALSE
    GIT_PROGRESS TRUE
    SOURCE_DIR "${source}"
    BINARY_DIR "${binary}"
    SOURCE_SUBDIR "pinctl-adds-no-subdirectory")
  if(local STREQUAL "")
    _pinctl_flashmla_ensure()
  endif()
  set(FETCHCONTENT_FULLY_DISCONNECTED ON)  # the source is there: only tell FetchContent of it
  FetchContent_MakeAvailable(flashmla)
  message(STATUS "flashmla: ${source} (${identity})")

  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/flashmla-pin.txt")
  set(before "")
  if(EXISTS "${stamp}")
    file(READ "${stamp}" before)
  endif()
  if(NOT before STREQUAL identity)  # its time moves with the pin, not with every configure
    file(WRITE "${stamp}" "${identity}")
  endif()
  set(includes "")
  set(headers "")
  set(flashmla_SOURCE_DIR "${source}" PARENT_SCOPE)
  set(flashmla_BINARY_DIR "${binary}" PARENT_SCOPE)
  set(flashmla_PIN_ID "${identity}" PARENT_SCOPE)
  set(flashmla_INCLUDE_DIRS "${includes}" PARENT_SCOPE)
  set(flashmla_HEADERS "${headers}" PARENT_SCOPE)
  set(flashmla_DEPENDS ${headers} "${stamp}" PARENT_SCOPE)
endfunction()

# `out`: the environment variable `setting`, else the CMake variable of that name.
function(_pinctl_flashmla_setting out setting)
  set(value "$ENV{${setting}}")
  if(value STREQUAL "")
    set(value "${${setting}}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Brings the source to the pin where it is not. For that time git's environment is set so that git takes no repository
# around the source for it, fetches no LFS files, and asks the mirror.
function(_pinctl_flashmla_ensure)
  set(variables GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_CEILING_DIRECTORIES GIT_LFS_SKIP_SMUDGE)
  set(new_GIT_CEILING_DIRECTORIES "${FETCHCONTENT_BASE_DIR}")
  set(new_GIT_LFS_SKIP_SMUDGE 1)
  if(NOT mirror STREQUAL "")
    set(number "$ENV{GIT_CONFIG_COUNT}")
    if(number STREQUAL "")
      set(number 0)
    endif()
    list(APPEND variables GIT_CONFIG_COUNT GIT_CONFIG_KEY_${number} GIT_CONFIG_VALUE_${number})
    math(EXPR new_GIT_CONFIG_COUNT "${number} + 1")
    set(new_GIT_CONFIG_KEY_${number} "url.${mirror}/.insteadOf")
    set(new_GIT_CONFIG_VALUE_${number} "https://")
  endif()
  foreach(variable IN LISTS variables)
    set(old_${variable} "$ENV{${variable}}")
    _pinctl_flashmla_setenv(${variable} "${new_${variable}}")
  endforeach()
  find_package(Git QUIET REQUIRED)
  _pinctl_flashmla_state(why)
  if(NOT why STREQUAL "")
    file(LOCK "${FETCHCONTENT_BASE_DIR}/flashmla-pin.lock" GUARD FUNCTION TIMEOUT 3600)
    _pinctl_flashmla_state(why)  # another process may have done it meanwhile
  endif()
  if(NOT why STREQUAL "")
    _pinctl_flashmla_update("${why}")
    _pinctl_flashmla_state(why)
  endif()
  if(NOT why STREQUAL "")
    message(FATAL_ERROR "flashmla: ${source} ${why}, so it is not at the pin ${identity}. Did another project declare flashmla before?")
  endif()
  foreach(variable IN LISTS variables)
    _pinctl_flashmla_setenv(${variable} "${old_${variable}}")
  endforeach()
endfunction()

# Sets an environment variable of this process, or unsets it where `value` is empty.
function(_pinctl_flashmla_setenv variable value)
  if(value STREQUAL "")
    unset(ENV{${variable}})
  else()
    set(ENV{${variable}} "${value}")
  endif()
endfunction()

# Runs git in the source. `code`: 0 if it succeeded; `out`: what it said.
function(_pinctl_flashmla_git code out)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" ${ARGN}
    WORKING_DIRECTORY "${source}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE text
    ERROR_VARIABLE complaint
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    string(APPEND text "${complaint}")
  endif()
  set(${code} "${result}" PARENT_SCOPE)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Runs git in the source, and stops where it fails.
function(_pinctl_flashmla_must task)
  _pinctl_flashmla_git(code out ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "flashmla: cannot ${task} (in ${source}):\n${out}")
  endif()
endfunction()

# `why`: what is wrong with the source, "" if it is at the pin. Only looks, and needs no network.
function(_pinctl_flashmla_state why)
  if(NOT EXISTS "${source}/.git")
    set(${why} "is missing" PARENT_SCOPE)
    return()
  endif()
  _pinctl_flashmla_must("read the checkout" rev-parse --git-dir)
  _pinctl_flashmla_git(code head rev-parse --verify HEAD)
  if(NOT code EQUAL 0)
    set(${why} "has no commit" PARENT_SCOPE)
    return()
  endif()
  if(NOT head STREQUAL commit)
    set(${why} "is at ${head}" PARENT_SCOPE)
    return()
  endif()
  _pinctl_flashmla_git(code status submodule status)
  if(NOT code EQUAL 0 OR status MATCHES "(^|\n)[-+U]")
    set(${why} "has submodules that are not at the pin" PARENT_SCOPE)
    return()
  endif()
  set(found "")
  if(EXISTS "${state}/digests")
    file(READ "${state}/digests" found)
  endif()
  set(code 0)
  if(EXISTS "${state}/applied.patch")
    _pinctl_flashmla_git(code out apply --check --reverse "${state}/applied.patch")
  endif()
  if(NOT code EQUAL 0 OR NOT found STREQUAL digests)
    set(${why} "has other patches" PARENT_SCOPE)
    return()
  endif()
  set(${why} "" PARENT_SCOPE)
endfunction()

# Brings the source to the pin. `why`: what is wrong with it.
function(_pinctl_flashmla_update why)
  message(STATUS "flashmla: ${source} ${why}; the pin is ${identity} of ${origin}")
  if(FETCHCONTENT_FULLY_DISCONNECTED AND NOT why STREQUAL "has other patches")
    message(FATAL_ERROR "flashmla: FETCHCONTENT_FULLY_DISCONNECTED is on, but ${source} ${why}, not at the pin ${identity}")
  endif()
  if(why MATCHES "missing|no commit")
    # What these say is of a source that is no more.
    file(REMOVE_RECURSE "${state}" "${FETCHCONTENT_BASE_DIR}/flashmla-subbuild")
    set(FETCHCONTENT_QUIET OFF)
    FetchContent_MakeAvailable(flashmla)
  else()
    _pinctl_flashmla_unpatch()
    _pinctl_flashmla_move()
  endif()
  _pinctl_flashmla_patch()
endfunction()

# Brings a checkout to the pin, with as little fetching as that needs.
function(_pinctl_flashmla_move)
  _pinctl_flashmla_must("set the remote" config remote.origin.url "${origin}")
  _pinctl_flashmla_git(code out cat-file -e "${commit}^{commit}")
  if(NOT code EQUAL 0)
    _pinctl_flashmla_git(code out fetch --no-tags origin "${commit}")
    if(NOT code EQUAL 0)  # not every server gives out a commit by its id
      _pinctl_flashmla_must("fetch ${commit} from ${origin}" fetch --tags --force origin "+refs/heads/*:refs/remotes/origin/*")
    endif()
  endif()
  _pinctl_flashmla_git(code changes diff-tree -r --no-renames --diff-filter=DT HEAD "${commit}")
  string(REGEX MATCHALL ":160000 [^\n]+" dropped "${changes}")
  foreach(entry IN LISTS dropped)
    string(REGEX REPLACE "^[^\t]*\t" "" path "${entry}")
    _pinctl_flashmla_must("empty ${path}, which is no submodule any more" submodule --quiet deinit -- "${path}")
  endforeach()
  _pinctl_flashmla_must("check out ${commit}" checkout --quiet --detach "${commit}")
  _pinctl_flashmla_must("set the URLs of the submodules" submodule --quiet sync)
  _pinctl_flashmla_must("update the submodules" submodule --quiet update --init)
endfunction()

# Takes back the patches that were applied here before. Where edits by hand, or a checkout without them, forbid it, the
# next step says what stands in its way.
function(_pinctl_flashmla_unpatch)
  if(EXISTS "${state}/applied.patch")
    _pinctl_flashmla_git(code out apply --reverse --whitespace=nowarn "${state}/applied.patch")
  endif()
  file(REMOVE "${state}/applied.patch" "${state}/digests")
endfunction()

# Applies the patches in their order and notes them. One that the source holds already is left at that.
function(_pinctl_flashmla_patch)
  foreach(patch IN LISTS patches)
    _pinctl_flashmla_git(code complaint apply --check --whitespace=nowarn "${patch}")
    if(code EQUAL 0)
      _pinctl_flashmla_must("apply ${patch}" apply --whitespace=nowarn "${patch}")
      file(READ "${patch}" text)
      file(APPEND "${state}/applied.patch" "${text}\n")
      message(STATUS "flashmla: ${patch} is applied")
    else()
      _pinctl_flashmla_git(code out apply --check --reverse --whitespace=nowarn "${patch}")
      if(NOT code EQUAL 0)
        message(FATAL_ERROR "flashmla: ${patch} does not apply to ${source} (edited by hand?):\n${complaint}")
      endif()
      message(STATUS "flashmla: ${patch} is in the source already")
    endif()
  endforeach()
  file(WRITE "${state}/digests" "${digests}")
endfunction()

_pinctl_flashmla()
cmake_policy(POP)
