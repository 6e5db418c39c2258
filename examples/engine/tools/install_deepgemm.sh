#!/usr/bin/env bash
# Builds DeepGEMM at the pinned commit and installs it.
set -euo pipefail

DEEPGEMM_GIT_REPO="https://github.com/vllm-project/DeepGEMM.git"
DEEPGEMM_GIT_REF="ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
DEEPGEMM_SUBMODULES=(third-party/cutlass third-party/deep_jit)

while [ $# -gt 0 ]; do
  case "$1" in
    --ref)
      DEEPGEMM_GIT_REF="$2"
      shift 2
      ;;
    *)
      echo "usage: $0 [--ref COMMIT]" >&2
      exit 2
      ;;
  esac
done

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
git clone "$DEEPGEMM_GIT_REPO" "$WORK/deepgemm"
cd "$WORK/deepgemm"
git checkout --detach "$DEEPGEMM_GIT_REF"
git submodule sync --recursive
git submodule update --init "${DEEPGEMM_SUBMODULES[@]}"
python3 -m pip install --no-build-isolation .
