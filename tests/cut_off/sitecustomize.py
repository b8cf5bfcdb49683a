"""Loaded by every Python that has this folder on its path: it reaches this machine alone, and its tries are noted."""

import ipaddress
import os
import sys
from pathlib import Path

TO_ADDRESS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
FOR_NAME = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
RECORD = Path(os.environ["CUT_OFF_RECORD"])


def _local(host):
    if host is None or isinstance(host, bytes):
        host = (host or b"").decode()
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _note(line):
    with RECORD.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")


def _watch(event, arguments):
    if event in TO_ADDRESS:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # else of this machine's own kind, or none
    elif event in FOR_NAME:
        host = arguments[0][0] if isinstance(arguments[0], tuple) else arguments[0]
    else:
        return
    if not _local(host):
        _note(f"{event} {arguments[1:] if event in TO_ADDRESS else arguments}")
        raise PermissionError(f"{event}: {host} is not this machine")


sys.addaudithook(_watch)
_note(f"watching {os.getpid()}")
