"""One chat request over HTTP: the only network of the project.

A request goes through the Groq SDK, over a transport that pins the URL, follows no redirect, sends no header but its
own and bounds what comes back. Nothing is retried here; `providers.py` does that.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from typing import Any, cast

import groq
import httpx

from actors.attempts import Answer, Trouble, read_answer, read_trouble
from actors.endpoints import Endpoint
from actors.keys import Secret
from actors.patience import Clock
from actors.untrusted import one_line

MAX_BODY = 4 * 1024 * 1024
"""Bytes of one response at most; a reply of 100 000 characters needs a tenth."""
CONNECT_S = 10.0
"""Seconds to connect at most."""
_SENT_HEADERS = ("host", "accept", "content-type", "content-length", "authorization", "user-agent", "connection")


class _Body(httpx.AsyncByteStream):
    """A response body that breaks off when it grows too long."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > MAX_BODY:
                raise httpx.ReadError(f"the response is longer than {MAX_BODY} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _PinnedTransport(httpx.AsyncBaseTransport):
    """Sends to one URL only, whatever path the SDK makes up, and only the headers that are meant to be sent.

    The SDK appends `/openai/v1/...`, which only Groq serves, and sends along `GROQ_CUSTOM_HEADERS` of the environment.
    """

    def __init__(self, url: str) -> None:
        self._url = httpx.URL(url)
        self._inner = httpx.AsyncHTTPTransport(trust_env=False, retries=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = [(name, request.headers[name]) for name in _SENT_HEADERS if name in request.headers]
        headers = [(name, value) for name, value in headers if value.strip() != "Bearer"]
        pinned = httpx.Request(
            request.method, self._url, headers=headers, stream=request.stream, extensions=request.extensions
        )
        response = await self._inner.handle_async_request(pinned)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx.DecodingError("the response is compressed, which was not asked for")
        response.stream = _Body(cast("httpx.AsyncByteStream", response.stream))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class ChatClient:
    """One server: sends one request and says what it came to. Safe to use from several threads.

    Requests run on an event loop of their own thread, so that each is bounded in whole and can be given up at once.

    Args:
        endpoint: Where requests go.
        timeout_s: Seconds of one request at most, from connecting to the last byte.
        clock: For dates of servers.
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float, clock: Clock) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        http = httpx.AsyncClient(
            transport=_PinnedTransport(endpoint.url),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        )
        self._client = groq.AsyncGroq(api_key="", base_url=endpoint.origin, max_retries=0, http_client=http)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llm", daemon=True)
        self._closing = threading.Lock()
        self._closed = False
        self._thread.start()

    def complete(self, key: Secret | None, parameters: dict[str, Any]) -> Answer | Trouble:
        """Send one request and wait for what it comes to; `stopped` once the client is closed."""
        with self._closing:
            if self._closed:
                return Trouble(kind="stopped", reason="the provider is closed")
            future = asyncio.run_coroutine_threadsafe(self._complete(key, parameters), self._loop)
        try:
            return future.result()
        except CancelledError:
            return Trouble(kind="stopped", reason="the provider was closed while it answered")

    def close(self) -> None:
        """Give up all requests in flight and release the connections."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._give_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _complete(self, key: Secret | None, parameters: dict[str, Any]) -> Answer | Trouble:
        client = self._client.with_options(api_key=key.reveal()) if key else self._client
        try:
            async with asyncio.timeout(self._timeout_s):
                raw = await client.chat.completions.with_raw_response.create(**parameters)
        except TimeoutError:
            return Trouble(kind="transient", reason=f"no whole answer within {self._timeout_s:g} s")
        except groq.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return read_trouble(error.status_code, error.body, headers, parameters, self._clock.wall())
        except groq.APIConnectionError as error:
            cause = error.__cause__ or error
            return Trouble(kind="transient", reason=one_line(f"{type(cause).__name__}: {cause}"))
        return read_answer(raw.http_response.content)

    async def _give_up(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.close()
