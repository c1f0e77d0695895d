import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.keys import Credentials, KeyPool, Secret, read_keys, redact, take_credentials
from search_spaces.errors import ProviderError, UsageError
from tests.virtual_clock import VirtualClock

KEY = "gsk_" + "a1B2" * 8
OTHER = "local-server-key-77"


def test_a_secret_never_shows_by_itself() -> None:
    secret = Secret(KEY)
    shown = f"{secret} {secret!r} {secret!s} {secret:>5} {[secret]} {Credentials((secret,))}"
    assert KEY not in shown
    assert "***" in shown
    with pytest.raises(TypeError):
        json.dumps(secret)
    assert copy.deepcopy(secret).reveal() == KEY
    assert secret == Secret(KEY)
    assert secret != KEY


def test_keys_leave_the_environment_whatever_the_provider() -> None:
    full = {"GROQ_API_KEY": f"{KEY}, {OTHER},", "OPENAI_API_KEY": "sk-1", "GROQ_BASE_URL": "http://h", "PATH": "p"}
    for spec in ("groq:m", "openai:http://localhost#m", "replay:x", None):
        environ = dict(full, GROQ_CUSTOM_HEADERS="Authorization: Bearer x")
        credentials = take_credentials(spec, environ)
        assert environ == {"GROQ_BASE_URL": "http://h", "PATH": "p"}
        if spec == "groq:m":
            assert credentials == Credentials((Secret(KEY), Secret(OTHER)), "http://h")
        elif spec and spec.startswith("openai"):
            assert credentials == Credentials((Secret("sk-1"),), None)
        else:
            assert credentials == Credentials()


def test_a_server_of_ones_own_never_gets_groqs_key() -> None:
    assert take_credentials("openai:http://localhost#m", {"GROQ_API_KEY": KEY}).keys == ()


@pytest.mark.parametrize(
    "text",
    [f"{KEY}\n{OTHER}\n", f"# mine\n\n {KEY} \r\n{OTHER}\n{KEY}", json.dumps([KEY, OTHER]), f"\ufeff{KEY}\n{OTHER}"],
)
def test_reads_key_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(text.encode())
    path.chmod(0o600)
    assert read_keys(path) == (Secret(KEY), Secret(OTHER))
    assert take_credentials("groq:m", {"GROQ_API_KEY": "gsk_other"}, path).keys == (Secret(KEY), Secret(OTHER))


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        (KEY, 0o640, "chmod 600"),
        (KEY, 0o604, "chmod 600"),
        ("\n# none\n", 0o600, "holds no key"),
        (f'["{KEY}"', 0o600, "is none"),
        (f'["{KEY}", 3]', 0o600, "strings only"),
        (f'{{"key":"{KEY}"}}', 0o600, "found a JSON object"),
        (f"{KEY} second", 0o600, "key 1 holds a space"),
    ],
)
def test_refuses_key_files_without_quoting_them(tmp_path: Path, text: str, mode: int, says: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UsageError, match=says) as caught:
        read_keys(path)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__cause__)


def test_refuses_a_missing_key_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_keys(tmp_path / "none")
    with pytest.raises(UsageError, match="regular file"):
        read_keys(tmp_path)


@given(st.text(), st.sampled_from(["gsk_", "sk-", "sk-proj-"]), st.text("abcXYZ019_-", min_size=12), st.text())
def test_redaction_masks_whatever_is_shaped_like_a_key(before: str, prefix: str, body: str, after: str) -> None:
    shown = redact(f"{before} {prefix}{body} {after}")
    assert f"{prefix}{body}" not in shown


@given(st.text("abcdef", min_size=8, max_size=12), st.text())
def test_redaction_masks_every_known_key(key: str, text: str) -> None:
    assert key not in redact(f"{text}{key}{text}", [Secret(key)])


def test_redaction_leaves_words_and_short_placeholders() -> None:
    text = "risk-averse desk-sharing task_x gsk_ none ollama"
    assert redact(text, [Secret("none"), Secret("ollama")]) == text


def test_the_pool_takes_the_key_that_is_ready_first() -> None:
    clock = VirtualClock()
    pool = KeyPool([Secret("a"), Secret("b")], clock)
    assert pool.pick() == (0, 0.0)
    pool.cool(0, 10.0)
    assert pool.pick() == (1, 0.0)
    pool.cool(1, 4.0)
    assert pool.pick() == (1, 4.0)
    pool.cool(1, 1.0)
    assert pool.pick() == (1, 4.0)
    clock.wait(10.0)
    assert pool.pick() == (1, 0.0)
    pool.kill(1, "HTTP 401")
    assert pool.pick() == (0, 0.0)
    pool.kill(0, "HTTP 403")
    with pytest.raises(ProviderError, match=r"none of 2 keys is accepted \(HTTP 401; HTTP 403\)"):
        pool.pick()


def test_a_pool_without_keys_says_so_when_refused() -> None:
    pool = KeyPool([], VirtualClock())
    assert pool.key(pool.pick()[0]) is None
    pool.kill(0, "HTTP 401")
    with pytest.raises(ProviderError, match="without a key"):
        pool.pick()
