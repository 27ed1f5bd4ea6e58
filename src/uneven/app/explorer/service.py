"""The application behind the page: its limits, which requests are heard, and the answers to its questions."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import uneven.app.explorer
from uneven.app.explorer.given_table import MOST_TABLE, GivenTable
from uneven.app.explorer.server import names_this_server
from uneven.app.explorer.workers import DONE, REFUSED, Broken, Busy, Job, Pool, TookTooLong, to_json
from uneven.errors import MissingExtraError

#: Bytes of a question; the longest text of the little language is far shorter.
MOST_QUESTION = 64 * 1024
#: Seconds in which the body of a request must have come.
ARRIVES_WITHIN = 30.0
#: Requests under way at the same time, of all kinds.
MOST_REQUESTS = 400


def _new_pools() -> dict[str, Pool]:
    """Pictures never wait behind proofs, nor proofs or limits behind fits; what can wait stands back."""
    cores = max(1, os.cpu_count() or 1)
    return {
        "pictures": Pool(min(4, max(2, cores)), waiting=128, seconds=30.0, growth=48 << 20),
        "proofs": Pool(min(4, max(2, cores - 1)), waiting=128, seconds=90.0, modesty=3, growth=24 << 20),
        # limits need packages of their own, which would make the other processes grow; rows of a fit are small
        "limits": Pool(1, waiting=32, seconds=30.0, growth=400 << 20),
        # a fit needs packages and room for the table
        "data": Pool(1, waiting=4, seconds=1800.0, modesty=5, growth=400 << 20),
    }


# -- which requests are heard, and what every answer says to the browser -----------------------------------------------

#: Nothing is loaded from elsewhere, no inline script runs, nobody may frame the page. Plotly writes styles of elements
#: (the size of a drawing, the place of a label) as attributes, which need 'unsafe-inline' for style attributes only;
#: style sheets are ours alone.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Refuses requests that another site could have caused, and too many at once.

    A page of another site can send requests to this machine, and a name of its own can be made to point here. So the
    ``Host`` must be this machine, as its own name or address, and the ``Origin`` the page itself.

    Parameters
    ----------
    app : ASGI application
    host : str
        The address the server listens at.
    port : int
    """

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self.app, self.host, self.port = app, host, port
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await _refuse(send_with_headers, *refused)
            return
        self.under_way += 1
        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            self.under_way -= 1

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason, or None for a request that is answered."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not names_this_server(hosts[0], self.host, self.port):
            return 421, "this server answers only under its own address, which `uneven explore` has printed"
        if scope["path"].startswith("/api/"):
            origins = headers.getlist("origin")
            if origins and origins != [f"http://{hosts[0]}"]:
                return 403, "this request comes from another site; the explorer answers only its own page"
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "this request comes from another site; the explorer answers only its own page"
        if self.under_way >= MOST_REQUESTS:
            return 503, "too many requests at once; try again in a moment"
        return None


async def _refuse(send: Any, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})


# -- the page, and the answers to its questions ------------------------------------------------------------------------

_STATIC = Path(uneven.app.explorer.__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: Which processes answer each question.
_POOL_OF = {
    "choices": "pictures",
    "formula": "pictures",
    "curves": "pictures",
    "alpha_of_gamma": "proofs",
    "verdict": "proofs",
    "enclosure": "proofs",
    "certificate": "proofs",
}


def application(host: str, port: int, given: GivenTable | None = None) -> ASGIApp:
    """The explorer for one address, with a table that the page opens at once if one is given."""
    pools = _new_pools()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for pool in pools.values():
            pool.start()
        try:
            yield
        finally:
            for pool in pools.values():
                await asyncio.to_thread(pool.close)

    app = Starlette(
        routes=[
            Route("/", _file(_STATIC / "index.html")),
            *(Route(f"/static/{file.name}", _file(file)) for file in sorted(_STATIC.iterdir()) if file.is_file()),
            Route("/static/plotly.min.js", _file(_plotly(), lasting=True)),
            *(Route(f"/api/{name}", _question(name, pools[pool]), methods=["POST"]) for name, pool in _POOL_OF.items()),
            Route("/api/given", _given(given), methods=["POST"]),
            Route("/api/example", _example(pools["data"]), methods=["POST"]),
            Route("/api/table", _uploaded("table", pools["data"]), methods=["POST"]),
            Route("/api/flag_limit", _uploaded("flag_limit", pools["limits"]), methods=["POST"]),
            Route("/api/class_costs", _uploaded("class_costs", pools["limits"]), methods=["POST"]),
            Route("/api/review", _uploaded("review", pools["limits"]), methods=["POST"]),
            *(
                Route(f"/api/{name}", _telling(name, pools["data"]), methods=["POST"])
                for name in ("fit", "model_file", "decisions_file")
            ),
        ],
        exception_handlers={HTTPException: _in_words},
        lifespan=lifespan,
    )
    return Guard(app, host, port)


def _plotly() -> Path:
    """Plotly's JavaScript, from the installed package."""
    found = find_spec("plotly")
    places = [] if found is None else list(found.submodule_search_locations or ())
    for place in places:
        script = Path(place) / "package_data" / "plotly.min.js"
        if script.is_file():
            return script
    raise MissingExtraError("the pictures of the explorer", "explorer")


def _file(path: Path, *, lasting: bool = False) -> Any:
    kind = _TYPES[path.suffix]
    headers = {"cache-control": "max-age=86400" if lasting else "no-cache"}

    async def send(request: Request) -> Response:
        return FileResponse(path, media_type=kind, headers=headers)

    return send


def _in_words(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _refuse_with(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def _refuse_with(status: int, reason: str, *, headers: dict[str, str] | None = None, **more: Any) -> Response:
    return JSONResponse({"error": reason, **more}, status_code=status, headers=headers)


# -- bodies -----------------------------------------------------------------------------------------------------------


async def _body(request: Request, most: int) -> bytes:
    """The body, if it is not too large and comes in time."""
    size = f"{most // 1024:,} KB" if most < 1 << 20 else f"{most >> 20:,} MB"
    too_large = HTTPException(413, f"this is larger than {size}, the most that is read here", {"connection": "close"})
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > most:
        raise too_large
    parts = bytearray()
    try:
        async with asyncio.timeout(ARRIVES_WITHIN):
            async for part in request.stream():
                parts += part
                if len(parts) > most:
                    raise too_large
    except TimeoutError:
        raise HTTPException(408, "the request did not arrive in time", {"connection": "close"}) from None
    return bytes(parts)


async def _json(request: Request) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "a question is JSON, with the content type application/json")
    try:
        return json.loads(await _body(request, MOST_QUESTION))
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None


# -- answers ----------------------------------------------------------------------------------------------------------


def _submit(pool: Pool, task: str, data: Any, tell: Any = None) -> Job:
    try:
        return pool.submit(task, data) if tell is None else pool.submit(task, data, tell)
    except Busy:
        raise HTTPException(
            503, "too many questions wait already; try again in a moment", {"retry-after": "1"}
        ) from None


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _outcome(job: Job) -> tuple[int, bytes]:
    """Status and JSON of an answer."""
    try:
        kind, content = await asyncio.wrap_future(job.future)
    except TookTooLong:
        return 504, to_json({"error": "this took too long and was stopped; a simpler loss or table would work"})
    except Broken as error:
        return 500, to_json({"error": str(error)})
    if kind == DONE:
        return 200, content
    if kind == REFUSED:
        return 400, to_json(content)
    return 500, to_json({"error": content})


async def _answer(request: Request, job: Job, kind: str = "application/json") -> Response:
    """The answer, unless the page goes away first: then the question is dropped."""
    answer = asyncio.ensure_future(_outcome(job))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            return Response(status_code=499)  # nobody reads it
        status, content = answer.result()
        return Response(content, status, media_type=kind if status == 200 else "application/json")
    finally:
        job.abandon()
        answer.cancel()
        gone.cancel()


def _question(task: str, pool: Pool) -> Any:
    async def reply(request: Request) -> Response:
        return await _answer(request, _submit(pool, task, await _json(request)))

    return reply


def _example(pool: Pool) -> Any:
    async def reply(request: Request) -> Response:
        await _json(request)
        return await _answer(request, _submit(pool, "example", None), "text/csv")

    return reply


def _given(table: GivenTable | None) -> Any:
    """The table of the command in the form in which the page sends one; 204 if there is none."""

    async def reply(request: Request) -> Response:
        await _json(request)
        if table is None:
            return Response(status_code=204)
        question = quote(json.dumps({**table.question, "name": table.name}))
        return Response(table.content, media_type="application/octet-stream", headers={"x-question": question})

    return reply


async def _read_upload(request: Request) -> dict[str, Any]:
    """A table, or rows of a fit, and what was asked about it: the bytes in the body, the rest as JSON in a header."""
    if request.headers.get("content-type") != "application/octet-stream":
        raise HTTPException(415, "a table is sent with the content type application/octet-stream")
    try:
        asked = json.loads(unquote(request.headers.get("x-question", "")))
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise HTTPException(400, "the header x-question must hold a JSON object")
    return {**asked, "content": await _body(request, MOST_TABLE)}


def _uploaded(task: str, pool: Pool) -> Any:
    async def reply(request: Request) -> Response:
        return await _answer(request, _submit(pool, task, await _read_upload(request)))

    return reply


def _telling(task: str, pool: Pool) -> Any:
    """Lines of JSON: parts of the answer as they come, then the last one."""

    async def reply(request: Request) -> Response:
        data = await _read_upload(request)
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        job = _submit(pool, task, data, lambda part: loop.call_soon_threadsafe(parts.put_nowait, part))
        job.future.add_done_callback(lambda _: loop.call_soon_threadsafe(parts.put_nowait, None))

        async def lines() -> AsyncIterator[bytes]:
            try:
                while (part := await parts.get()) is not None:
                    yield part + b"\n"
                _, content = await _outcome(job)
                yield content + b"\n"
            finally:
                job.abandon()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    return reply
