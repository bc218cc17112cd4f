"""The names and addresses under which others reach this machine."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from ipaddress import ip_address

LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("", "0.0.0.0", "::")
SIOCGIFADDR = 0x8915  # Linux: the IPv4 address of an interface


def others_reach(host: str) -> list[str]:
    """Return the addresses at which other machines reach a server that listens on ``host``."""
    if host in LOOPBACK:
        return []
    if host not in EVERYWHERE:
        return [host]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = [*_by_name(family), *(_of_interfaces() if family == socket.AF_INET else ())]
    return [one for one in dict.fromkeys(found) if _is_reached(one)]


def _by_name(family: int) -> Iterator[str]:
    """Yield the addresses of this machine's own name; on some systems it has only loopback."""
    with contextlib.suppress(OSError):
        for *_, where in socket.getaddrinfo(socket.gethostname(), None, family):
            yield str(where[0])


def _of_interfaces() -> Iterator[str]:
    """Yield the IPv4 address of each interface, on Linux."""
    try:
        from fcntl import ioctl  # there is none on Windows
    except ImportError:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # an interface without one, or not Linux
                answer = ioctl(probe.fileno(), SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                yield socket.inet_ntoa(answer[20:24])


def _is_reached(address: str) -> bool:
    known = ip_address(address.partition("%")[0])
    return not (known.is_loopback or known.is_link_local or known.is_unspecified)


def url(host: str, port: int) -> str:
    """Return where a browser finds a server."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
