"""Addresses of this machine."""

from __future__ import annotations

import ipaddress


def leaves_machine(host: str) -> bool:
    """Whether others can reach a server that listens at this address.

    Examples
    --------
    >>> from uneven.explorer.service.hosts import leaves_machine
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
    >>> from uneven.explorer.service.hosts import names_this_server
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
