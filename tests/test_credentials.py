import pytest

from pinctl.credentials import is_secret, is_secret_name


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "token",
        "githubToken",
        "HFTOKEN",
        "DB_PASSWORD",
        "PASSWD",
        "AWS_SECRET_ACCESS_KEY",
        "CLIENT_SECRET",
        "API_KEY",
        "apiKey",
        "APIKEY",
        "PRIVATE_KEY",
        "GIT_CREDENTIALS",
        "NPM_AUTH_KEY",
    ],
)
def test_names_of_credentials(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "TOKENIZERS_VERSION",
        "MAX_TOKENS",
        "CUDA_VERSION",
        "KEY",
        "MONKEY",
        "DEEPGEMM_REF",
        "min_cuda",
        "SECRETARY",
        "ACCESS",
        "KEYRING",
        "",
    ],
)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("https://user:pw@h/r", True),
        ("https://token@h/r", True),
        ("ssh://git:pw@h/r", True),
        ("pip install https://u:p@h/x.whl", True),
        ("https://h/r?access_token=x", True),
        ("https://h/r", False),
        ("git@github.com:o/r.git", False),
        ("ssh://git@github.com/o/r.git", False),
        ("ssh://alice@h/r", False),
        ("name@1.0", False),
    ],
)
def test_texts(text: str, secret: bool) -> None:
    assert is_secret(text) is secret
