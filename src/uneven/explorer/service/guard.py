"""Which requests are heard at all, and what every answer says to the browser."""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uneven.explorer.service.hosts import names_this_server
from uneven.explorer.service.limits import MOST_REQUESTS

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
