from .support import NEW, hinted

CLONE = """\
UCX_REPO=https://github.com/openucx/ucx
UCX_TAG=v1.20.0
git clone "$UCX_REPO" -b "$UCX_TAG"
"""


def test_the_variables_that_a_clone_takes_share_its_call() -> None:
    found = hinted("a.sh", CLONE)
    assert found.calls_of("UCX_REPO") == found.calls_of("UCX_TAG") == ("a.sh:git:0",)
    assert found.calls_of("UCX") == ()


def test_the_literals_that_a_clone_takes_share_its_call() -> None:
    text = "git clone https://github.com/openucx/ucx\ncd ucx\ngit checkout v1.20.0\n"
    found = hinted("a.sh", text)
    for word in ("https://github.com/openucx/ucx", "v1.20.0"):
        at = text.index(word)
        assert found.calls_at(at, at + len(word)) == ("a.sh:git:0",)
    assert found.calls_at(0, 3) == ()


def test_a_branch_that_a_clone_takes_is_told_as_moving() -> None:
    assert hinted("a.sh", "git clone https://github.com/o/r -b main\n").branches == [("main", "a.sh:git:0")]
    assert hinted("a.sh", "git clone https://github.com/o/r\n").branches == [("HEAD", "a.sh:git:0")]
    assert hinted("a.sh", "git clone https://github.com/o/r -b v1.2\n").branches == []
    assert hinted("a.sh", CLONE).branches == []
    assert hinted("a.sh", f"git clone https://github.com/o/r\ngit checkout {NEW}\n").branches == []


def test_an_address_names_the_repository_of_the_variable_in_it() -> None:
    found = hinted("a.sh", "V=1.2\ncurl https://github.com/o/r/archive/v${V}.tar.gz\n")
    assert found.repos == [("https://github.com/o/r", "a.sh:url:0")]
    assert found.calls_of("V") == ("a.sh:url:0",)


def test_the_address_of_a_wheel_names_a_package_and_no_repository() -> None:
    found = hinted("a.sh", "V=1.2\ncurl https://github.com/o/r/releases/download/v${V}/my_pkg-${V}-py3-none-any.whl\n")
    assert found.repos == []
    assert found.packages_of("V") == ("my-pkg",)


def test_a_requirement_names_the_package_of_the_variable_in_it() -> None:
    found = hinted("a.sh", 'pip install "My_Pkg[x]==${V}" other=="$W"\n')
    assert found.packages_of("V") == ("my-pkg",)
    assert found.packages_of("W") == ("other",)


def test_variables_that_take_their_value_from_another() -> None:
    found = hinted("a.sh", 'PROTOC_VERSION=34.2\nVERSION="${PROTOC_VERSION:-34.1}"\npip install "protoc==$VERSION"\n')
    assert found.packages_of("PROTOC_VERSION") == ("protoc",)


def test_but_not_from_another_dependency() -> None:
    text = 'TORCH_VERSION=2.11\nTORCHAUDIO_VERSION="$TORCH_VERSION"\npip install "torchaudio==$TORCHAUDIO_VERSION"\n'
    found = hinted("a.sh", text)
    assert found.packages_of("TORCHAUDIO_VERSION") == ("torchaudio",)
    assert found.packages_of("TORCH_VERSION") == ()


def test_requirements_anywhere_in_shell_text_but_in_comments() -> None:
    text = "# aa==1\n$PIP install 'pip[x]==2.0' cu-lib==3.1+cu130\ndd==$V\n"
    assert [(r.package, r.version) for r in hinted("a.sh", text).requirements] == [
        ("pip", "2.0"),
        ("cu-lib", "3.1+cu130"),
    ]
    (first, second) = hinted("a.sh", text).requirements
    assert text[first.start : first.end] == "2.0"
    assert text[second.start : second.end] == "3.1+cu130"


def test_in_yaml_only_in_lines_that_install() -> None:
    text = "a: xx==1.0\nb: $PIP install yy==2.0\n"
    assert [r.package for r in hinted("a.yaml", text).requirements] == ["yy"]


def test_other_languages_have_no_requirements_in_their_text() -> None:
    assert hinted("a.py", 'A = "install xx==1.0"\n').requirements == []


def test_a_mirror_of_github_in_a_clone() -> None:
    found = hinted("a.sh", "git clone https://${GITHUB_MIRROR}/o/r.git -b v1.2\n")
    assert found.repos == [("https://github.com/o/r.git", "a.sh:git:0")]
