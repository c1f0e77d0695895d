from pathlib import Path

import pytest

from actors.endpoints import DEFAULT_MODEL, Endpoint, ProviderSpec, absolute_spec, endpoint_of, parse_spec
from actors.plan import LLMSettings
from search_spaces.errors import UsageError


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("groq:openai/gpt-oss-120b", ProviderSpec("groq", ("openai/gpt-oss-120b",))),
        ("groq:a, b,,a", ProviderSpec("groq", ("a", "b"))),
        ("groq:", ProviderSpec("groq", (DEFAULT_MODEL,))),
        ("groq", ProviderSpec("groq", (DEFAULT_MODEL,))),
        ("openai:http://localhost:8000/v1#org/m:8b", ProviderSpec("openai", ("org/m:8b",), "http://localhost:8000/v1")),
        ("openai:https://h#a,b", ProviderSpec("openai", ("a", "b"), "https://h")),
        ("replay:some/folder", ProviderSpec("replay", (), "some/folder")),
    ],
)
def test_reads_the_known_forms(text: str, spec: ProviderSpec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "gpt-4",
        "grok:m",
        "groq:,",
        "openai:http://localhost",
        "openai:#m",
        "openai:http://h#",
        "replay:",
        "groq:a\nb",
    ],
)
def test_refuses_other_forms_and_says_which_are_known(text: str) -> None:
    with pytest.raises(UsageError, match=r"--llm .*expected"):
        parse_spec(text)


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
        ("https://host/v1", "https://host/v1/chat/completions"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions"),
    ],
)
def test_openai_compatible_urls(url: str, requested: str) -> None:
    assert endpoint_of(ProviderSpec("openai", ("m",), url), "https://elsewhere", False).url == requested


def test_groq_urls() -> None:
    spec = ProviderSpec("groq", ("m",))
    assert endpoint_of(spec, None, False) == Endpoint(
        "https://api.groq.com/openai/v1/chat/completions", "https://api.groq.com"
    )
    assert endpoint_of(spec, "http://127.0.0.1:9/x/", False).url == "http://127.0.0.1:9/x/openai/v1/chat/completions"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://host/v1", "--allow-http"),
        ("http://127.0.0.1.evil.com", "--allow-http"),
        ("http://localhost.evil.com", "--allow-http"),
        ("http://10.0.0.1", "--allow-http"),
        ("https://user:hunter2@host/v1", "user or password"),
        ("https://hunter2@host", "user or password"),
        ("https://host/v1?api_key=hunter2", "without query"),
        ("ftp://host", r"expected http\(s\)"),
        ("host:8000/v1", r"expected http\(s\)"),
        ("http://", r"expected http\(s\)"),
        ("https://host:port", "found something else"),
        ("https://ho st", "space"),
        ("https://host\\@evil", "backslash"),
        ("https://h\u043est", "non-ASCII"),
    ],
)
def test_refuses_urls_that_would_leak(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        endpoint_of(ProviderSpec("openai", ("m",), url), None, False)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(UsageError, match=says):
        endpoint_of(ProviderSpec("groq", ("m",)), url, False)


def test_plain_http_can_be_allowed() -> None:
    assert endpoint_of(ProviderSpec("openai", ("m",), "http://host"), None, True).origin == "http://host"


def test_a_password_in_a_spec_that_is_not_understood_is_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec("openai:https://user:hunter2@host")
    assert "hunter2" not in str(caught.value)


def test_a_recording_is_found_from_every_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_spec("replay:some/run") == f"replay:{tmp_path}/some/run"
    assert absolute_spec("groq:a,b") == "groq:a,b"


@pytest.mark.parametrize(
    "spec",
    ["openai:https://user:hunter2@host#m", "openai:https://host?key=hunter2#m", "groq:gsk_hunter2hunter2", "hunter2@"],
)
def test_settings_that_hold_a_secret_cannot_even_be_made(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        LLMSettings(spec=spec)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(UsageError):
        LLMSettings.from_json({"spec": spec})
