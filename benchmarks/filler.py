"""Endless text in the shape of an engine's build files: what stands between the pins of run.py's trees.

Each language has one block. In it `<name>` and `<NAME>` are the same words wherever the block has them, `<other>`,
`<noun>`, `<kind>`, `<phrase>` and `<digit>` are drawn anew each time, and a line that begins with `*` is repeated.
"""

import random
import re
from collections.abc import Iterator

_WORDS = {
    "noun": "attention block cache epilogue expert gemm graph head kernel layer mask moe page quant router".split(),
    "kind": "sm80 sm90 sm90a sm100 sm120 fp4 fp8 int8 w4a16 w8a8 bf16 marlin mla ragged".split(),
    "verb": "build check collect copy fetch install link list pack print resolve run test update verify".split(),
    "digit": list("123456789"),
}
_FORMS = {"other": "<noun>_<kind>_<noun>", "phrase": "<verb> the <noun> <noun> before the <kind> ones"}
_REPEATED = re.compile(r"^\*(.*\n)", re.MULTILINE)
_MARK = re.compile(r"<([a-z]+)>")


def blocks(language: str, rng: random.Random) -> Iterator[str]:
    """Blocks of `language`, one after the other, as `rng` draws them; no two of one file share a name."""
    number = 0
    while True:
        number += 1
        name = f"{_drawn('<other>', rng)}_{number}"
        block = BLOCKS[language].replace("<name>", name).replace("<NAME>", name.upper())
        yield _drawn(_REPEATED.sub(lambda line: line[1] * rng.randint(1, 8), block), rng)


def _drawn(text: str, rng: random.Random) -> str:
    """`text` with each mark replaced."""

    def draw(mark: re.Match[str]) -> str:
        return _drawn(_FORMS[mark[1]], rng) if mark[1] in _FORMS else rng.choice(_WORDS[mark[1]])

    return _MARK.sub(draw, text)


BLOCKS = {
    "cmake": """\
# <phrase>; those files are only
# built where <name> is among the architectures.
cuda_archs_intersection(<NAME>_ARCHS "9.0a;10.0f;12.0f" "${CUDA_ARCHS}")
if(${CUDA_VERSION} VERSION_GREATER_EQUAL 12.<digit> AND <NAME>_ARCHS)
  set(<NAME>_SRCS
*    "csrc/<noun>/<other>.cu"
  )
  set_gencode_flags(
    SRCS "${<NAME>_SRCS}"
    CUDA_ARCHS "${<NAME>_ARCHS}")
  list(APPEND EXT_SRC "${<NAME>_SRCS}")
  list(APPEND EXT_FLAGS "-DENABLE_<NAME>=1")
  message(STATUS "Building <name> for archs: ${<NAME>_ARCHS}")
else()
  message(STATUS "Not building <name>: no compatible archs found "
                 "in CUDA target architectures")
endif()

""",
    "dockerfile": r"""
# <phrase>
FROM base AS <name>

ARG max_jobs=2
ENV MAX_JOBS=${max_jobs} \
    WORK_DIR=/opt/<name> UV_HTTP_TIMEOUT=500

RUN apt-get update -y \
    # <phrase>
    && apt-get install -y --no-install-recommends \
*        lib<noun>-<kind>-dev \
        curl \
    && rm -rf /var/lib/apt/lists/*

COPY requirements/common.txt requirements/common.txt
RUN --mount=type=cache,target=/root/.cache/uv \
    if [ "$CUDA_VERSION" != "" ]; then \
        uv pip install --python /opt/venv/bin/python3 -r requirements/common.txt \
            --extra-index-url "https://wheels.example.org/cu$(echo $CUDA_VERSION | cut -d. -f1,2 | tr -d .)"; \
    else \
        echo '<phrase>' && exit <digit>; \
    fi
COPY --from=base /opt/<name>/dist/*.whl dist/
""",
    "requirements": """\
<name>==<digit>.<digit>.<digit>
    # via
*    #   <other>
""",
    "python": '''\
def <verb>_<name>(root: str, *, jobs: int = <digit>) -> list[str]:
    """<phrase>.

    Those that the <noun> needs come first, since the others are built from
    what they leave in `root`; <phrase>.
    """
    found = []
    for kernel in sorted(os.listdir(root)):
*        # <phrase>, or it would not find the <noun>.
        if not kernel.startswith("<noun>") or jobs < <digit>:
            continue
        path = os.path.join(root, "csrc", f"{kernel}.cu")
        flags = os.environ.get("<kind>_flags", "").split() + ["-O<digit>", "--<noun>"]
        try:
            subprocess.check_call(["nvcc", *flags, path], cwd=root)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"cannot <verb> {kernel} (exit status {error.returncode})") from error
        found.append(path.removesuffix(".cu"))
    return found


''',
    "yaml": """\
  - label: <phrase> # <digit>0min
    key: <name>
    timeout_in_minutes: <digit>0
    device: [<kind>, <kind>]
    optional: true
    source_file_dependencies:
*      - csrc/<noun>/<other>/
    commands:
      - pytest -v -s kernels/<name> --shard-id=$$JOB --num-shards=$$JOB_COUNT
      - "export VERBOSE=<digit> && bash ci/scripts/<name>.sh"
      - |
        if [ -n "$$TOKEN" ]; then
          pytest -v kernels/<name>/test_<noun>.py
        fi
""",
    "shell": r"""# <phrase>
<verb>_<name>() {
    local target="$1" count=0
    if [[ -z "$target" || ! -d "$target/<noun>" ]]; then
        echo "Error: <name> needs a directory" >&2
        return <digit>
    fi
    while read -r line; do
        case "$line" in
            <noun>*) count=$((count + 1)) ;;
            *) printf '%s\n' "${line%%:*}" ;;
        esac
    done < <(find "$target" -name "*.<kind>" | sort)
    docker run --rm \
*        --<noun>-<kind> "${<noun>:-}" \
        -v "$target:/work" \
        image:latest bash -c "make -j $(nproc) <name>"
}

""",
    "json": """\
    "<NAME>": {
      "default": "<digit><digit>",
      "notes": [
*        "<other>",
        "<noun>"
      ],
      "required": true
    },
""",
    "hcl": """\
# <phrase>; what is built there
*# <phrase>,
# and is tagged below.
target "<name>" {
  inherits   = ["_common", "_labels"]
  dockerfile = "docker/Dockerfile"
  target     = "<noun>"
  args = {
    <other> = "${TAG}-<digit>"
  }
  tags = compact([
    "registry.example.org/<name>:${TAG}",
    LATEST != "" ? "registry.example.org/<name>:latest" : "",
  ])
  output = ["type=docker"]
}

""",
    "toml": """\
# <phrase>
[tool.<name>]
line-length = <digit>0
exclude = [
*  "<noun>/<other>.py",
]

""",
}
