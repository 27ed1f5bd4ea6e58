"""Start the explorer, keep it running until Ctrl-C, and tell which addresses are those of this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from uneven.errors import UnevenError, needs_extra

if TYPE_CHECKING:
    from uneven.app.explorer.given_table import GivenTable

#: The port that is tried first if none is asked for.
USUAL_PORT = 8765


def serve(
    host: str, port: int | None, *, browser: bool, say: Callable[[str], None], given: GivenTable | None = None
) -> None:
    """Serve the explorer; returns after Ctrl-C.

    Parameters
    ----------
    host : str
        The address to listen at.
    port : int or None
        None: the usual port, or any other if that one is taken.
    browser : bool
        Whether to open the page.
    say : callable
        Where sentences for the user go.
    given : GivenTable, optional
        A table that the page opens at once, on its tab "Your data".
    """
    with needs_extra("the pages of the explorer", "explorer"):
        import uvicorn

        from uneven.app.explorer.service import application
    listener = _listener(host, port)
    chosen = listener.getsockname()[1]
    address = f"http://{_host_to_open(host)}:{chosen}/{'' if given is None else '?tab=data'}"

    class Announcing(uvicorn.Server):
        """Says so once it listens."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                _announce(address, browser, say)

    config = uvicorn.Config(
        application(host, chosen, given),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
        ws="none",
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises it again after it has shut down
        Announcing(config).run(sockets=[listener])
    say("Stopped.")


def _announce(address: str, browser: bool, say: Callable[[str], None]) -> None:
    say(f"The explorer is at {address} (Ctrl-C ends it).")
    if browser:  # in a thread: some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _listener(host: str, port: int | None) -> socket.socket:
    """A socket that listens, or an error that says what is wrong with the address."""
    for candidate in (USUAL_PORT, 0) if port is None else (port,):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            # The protocol is named because asyncio looks at it: only then are answers sent at once. Otherwise the
            # second part of an answer waits 40 ms for the receipt of the first.
            found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        except OSError as error:
            raise UnevenError(f"there is no address {host!r} to listen at: {error.strerror or error}") from None
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, candidate))
            return found
        except OSError as error:
            found.close()
            reason = error.strerror or str(error)
    raise UnevenError(f"the explorer cannot listen at {host}, port {port}: {reason}; --port gives another") from None


def _host_to_open(host: str) -> str:
    """The host in an address that a browser on this machine can open."""
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


# -- addresses of this machine -----------------------------------------------------------------------------------------


def leaves_machine(host: str) -> bool:
    """Whether others can reach a server that listens at this address.

    Examples
    --------
    >>> from uneven.app.explorer.server import leaves_machine
    >>> leaves_machine("127.0.0.1"), leaves_machine("localhost"), leaves_machine("0.0.0.0")
    (False, False, True)
    """
    address = _address(host)
    return host != "localhost" if address is None else not address.is_loopback


def names_this_server(header: str, host: str, port: int) -> bool:
    """Whether a Host header names the server that listens at a host and a port.

    A name of another site can be made to point to this machine; an address in digits cannot. So the name must be
    ``localhost`` or the host itself; an address must be a loopback address if the server listens at one.

    Examples
    --------
    >>> from uneven.app.explorer.server import names_this_server
    >>> [names_this_server(header, "127.0.0.1", 8765) for header in ("localhost:8765", "evil.example:8765")]
    [True, False]
    """
    name, colon, given = header.rpartition(":")
    if not colon or not (given.isascii() and given.isdigit()):
        name, given = header, "80"
    if given != str(port):
        return False
    name = name.lower()
    if name in ("localhost", host.lower()):
        return True
    address = _address(name)
    return address is not None and (address.is_loopback or leaves_machine(host))


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
