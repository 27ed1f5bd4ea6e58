"""The application: the page, and the answers to its questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

import uneven.explorer
from uneven.errors import MissingExtraError
from uneven.explorer.service.guard import Guard
from uneven.explorer.service.limits import ARRIVES_WITHIN, MOST_QUESTION, MOST_TABLE, pool_limits
from uneven.explorer.service.pool import Broken, Busy, Job, Pool, TookTooLong
from uneven.explorer.service.worker import DONE, REFUSED, encoded

_STATIC = Path(uneven.explorer.__file__).parent / "static"
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


def application(host: str, port: int) -> ASGIApp:
    """The explorer for one address."""
    pools = {
        name: Pool(each.processes, waiting=each.waiting, seconds=each.seconds, modesty=each.modesty, growth=each.growth)
        for name, each in pool_limits().items()
    }

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
            Route("/api/example", _example(pools["data"]), methods=["POST"]),
            Route("/api/table", _table(pools["data"]), methods=["POST"]),
            Route("/api/fit", _fit(pools["data"]), methods=["POST"]),
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
    return _refused(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def _refused(status: int, reason: str, *, headers: dict[str, str] | None = None, **more: Any) -> Response:
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


def _submitted(pool: Pool, task: str, data: Any, tell: Any = None) -> Job:
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
        return 504, encoded({"error": "this took too long and was stopped; a simpler loss or table would work"})
    except Broken as error:
        return 500, encoded({"error": str(error)})
    if kind == DONE:
        return 200, content
    if kind == REFUSED:
        return 400, encoded(content)
    return 500, encoded({"error": content})


async def _answered(request: Request, job: Job, kind: str = "application/json") -> Response:
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
        return await _answered(request, _submitted(pool, task, await _json(request)))

    return reply


def _example(pool: Pool) -> Any:
    async def reply(request: Request) -> Response:
        await _json(request)
        return await _answered(request, _submitted(pool, "example", None), "text/csv")

    return reply


async def _uploaded(request: Request) -> dict[str, Any]:
    """A table and what was asked about it: the bytes in the body, the rest as JSON in a header."""
    if request.headers.get("content-type") != "application/octet-stream":
        raise HTTPException(415, "a table is sent with the content type application/octet-stream")
    try:
        asked = json.loads(unquote(request.headers.get("x-question", "")))
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise HTTPException(400, "the header x-question must hold a JSON object")
    return {**asked, "content": await _body(request, MOST_TABLE)}


def _table(pool: Pool) -> Any:
    async def reply(request: Request) -> Response:
        return await _answered(request, _submitted(pool, "table", await _uploaded(request)))

    return reply


def _fit(pool: Pool) -> Any:
    """Lines of JSON: parts of the answer as they come, then the last one."""

    async def reply(request: Request) -> Response:
        data = await _uploaded(request)
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        job = _submitted(pool, "fit", data, lambda part: loop.call_soon_threadsafe(parts.put_nowait, part))
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
