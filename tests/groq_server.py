"""A loopback server that speaks Groq's chat protocol from a script: what tests ask instead of a model.

    with GroqServer([rate_limited("7.66s"), answer("hello")]) as server:
        ...   # GROQ_BASE_URL=server.url
    server.received[0].authorization

A script is a list of responses, given in order, or a function from what was received to a response. `SearchScript` is
the function for a whole search. `python -m tests.groq_server` serves it until it is interrupted.
"""

import contextlib
import hashlib
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization")

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One response; `delay_s` comes before the headers, `drip_s` between each two bytes of the body."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0


Script = Callable[[Received], Response] | Sequence[Response]


def answer(
    text: str | None,
    *,
    finish: str = "stop",
    usage: tuple[int, int] | None = (100, 20),
    model: str = "scripted",
    delay_s: float = 0.0,
) -> Response:
    """A chat completion."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Response(body=json.dumps(body).encode(), delay_s=delay_s)


def error(status: int, message: str, code: str = "", param: str | None = None, **headers: str) -> Response:
    """An error as Groq words it; `retry_after="7.66s"` becomes the header `retry-after`."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}
    return Response(
        status=status,
        body=json.dumps(body).encode(),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def rate_limited(retry_after: str | None = None, message: str = "Rate limit reached for model `scripted`") -> Response:
    headers = {} if retry_after is None else {"retry_after": retry_after}
    return error(429, message, "rate_limit_exceeded", **headers)


def model_gone(model: str = "old") -> Response:
    return error(404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found")


def html(status: int = 200) -> Response:
    return Response(status=status, body=b"<html><body>Bad gateway</body></html>", content_type="text/html")


def too_large(limit: int, requested: int) -> Response:
    return error(
        413,
        "Request too large for model `scripted` in organization `org` service tier `on_demand` on tokens per minute "
        f"(TPM): Limit {limit}, Requested {requested}, please reduce your message size and try again.",
        "rate_limit_exceeded",
    )


def malformed() -> Response:
    return Response(body=b'{"choices": [{"message": {"content": "cut')


def choices_null() -> Response:
    return Response(body=b'{"id": "x", "object": "chat.completion", "choices": null}')


def hanging() -> Response:
    """No response until the server closes."""
    return Response(delay_s=3600.0)


class GroqServer:
    """The server; starts on construction, on a free port of the loopback interface."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.received: list[Received] = []
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def respond(self, received: Received) -> Response:
        with self._lock:
            self.received.append(received)
            if callable(self._script):
                return self._script(received)
            number = len(self.received) - 1
            if number < len(self._script):
                return self._script[number]
            return error(418, f"the script has {len(self._script)} responses, this is request {number + 1}")

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                response = server.respond(Received(path=self.path, headers=headers, body=json.loads(content)))
                if server._closing.wait(response.delay_s):
                    self.close_connection = True
                    return
                try:
                    self._send(response)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _send(self, response: Response) -> None:
                self.send_response(response.status)
                self.send_header("content-type", response.content_type)
                self.send_header("content-length", str(len(response.body)))
                for name, value in response.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                step = 1 if response.drip_s else max(1, len(response.body))
                for start in range(0, len(response.body), step):
                    self.wfile.write(response.body[start : start + step])
                    if response.drip_s and server._closing.wait(response.drip_s):
                        break

            def log_message(self, *args: object) -> None:
                """Keep quiet."""

        return Handler


GOOD = """\
def compute_reward(state):
    progress = state["speed_ms"] / {scale}
    danger = -{weight} * clip(1.0 - state["ttc"] / 4.0, 0.0, 1.0)
    crash = -3.0 * state["collided"]
    total = progress + danger + crash
    return total, {{"progress": progress, "danger": danger, "crash": crash}}
"""
HOSTILE = """\
import os

def compute_reward(state):
    os.system("touch /tmp/hostile")
    return state["speed_ms"] / 30.0 - 3.0 * state["collided"]
"""
WRAPPINGS = (
    "Here is the program.\n\n```python\n{}```\nIt rewards progress.",
    "<think>Speed, but safely.</think>\n~~~\n{}~~~",
    "{}",
    "1. My answer:\n\n```Python\n{}",
)


class SearchScript:
    """Answers a whole search: good programs in different wrappings, a hostile one, a misspelt one that is repaired.

    The first request meets a rate limit, the third an error 500, the fifth an HTML page. A program depends on the
    prompt alone, so that no two prompts get the same one.
    """

    def __init__(self, retry_after: str = "0.2s") -> None:
        self._retry_after = retry_after
        self._requests = 0
        self._designs = 0

    def __call__(self, received: Received) -> Response:
        self._requests += 1
        if self._requests == 1:
            return rate_limited(self._retry_after)
        if self._requests == 3:
            return error(500, "Internal server error")
        if self._requests == 5:
            return html()
        digest = hashlib.sha256(json.dumps(received.messages).encode()).digest()
        program = GOOD.format(scale=25 + digest[0] / 16, weight=(1 + digest[1] + 256 * digest[2]) / 65536)
        if any(message["role"] == "assistant" for message in received.messages):
            return answer(WRAPPINGS[0].format(program))
        if "compute_reward" not in received.messages[0]["content"]:
            return answer("It drives faster than its parent and brakes late; pay for headway next.")
        self._designs += 1
        if self._designs == 2:
            return answer(WRAPPINGS[0].format(HOSTILE))
        if self._designs == 3:
            return answer(WRAPPINGS[0].format(program.replace('"collided"', '"colided"')))
        return answer(WRAPPINGS[self._designs % len(WRAPPINGS)].format(program))


if __name__ == "__main__":
    with GroqServer(SearchScript()) as running:
        sys.stdout.write(f"export GROQ_BASE_URL={running.url} GROQ_API_KEY=gsk_scripted000000000000\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
