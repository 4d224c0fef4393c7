"""Where a host is and what lets one in: a connection file, or an address. Imports nothing of Dask."""

import ipaddress
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import platformdirs

from flashscope.home import OWN_FILE, in_home, make_own_folder, own_home

ADDRESS = re.compile(r"(?P<scheme>tls|tcp)://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")
SUFFIX, JOINING_SUFFIX = ".connection", ".joining"
LARGEST_BYTES = 64 << 10
OTHERS = 0o077  # the rights of everyone but the owner
RIGHTS = (
    "Whoever holds this file can run any program on this machine with your rights, as in a shell of yours."
)


class ConnectError(Exception):
    """A host cannot be reached or used; the text is a sentence with the cause and the remedy."""


class Address(NamedTuple):
    """An address in its parts."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address | None":
        """The parts, None where the text is no address."""
        found = ADDRESS.fullmatch(text)
        if found is None or not 0 < int(found["port"]) < 1 << 16:
            return None
        return cls(found["scheme"], found["host"].strip("[]"), int(found["port"]))


class Connection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is carried from a host to whoever is to measure there, or to lend devices beside it.

    Attributes:
        address: Of its scheduler, `tls://HOST:PORT` or `tcp://127.0.0.1:PORT`.
        ca: The certificate that the host's is signed with, as PEM; empty where the connection is plain.
        certificate: The client's, or the joining host's.
        key: Its private key.
        joins: Whether it is a joining host's.
    """

    address: str
    ca: str = ""
    certificate: str = ""
    key: str = ""
    joins: bool = False


def is_loopback(host: str) -> bool:
    """Whether an address of this name never leaves the machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def connections_dir() -> Path:
    """Where connection files are: the user's data folder, or `$FLASHSCOPE_HOME/connections`."""
    return (own_home() or platformdirs.user_data_path("flashscope", appauthor=False)) / "connections"


def write_connection(connection: Connection, path: Path) -> None:
    """Write a connection file that nobody else can read, over one that is there.

    Raises:
        ConnectError: It cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        make_own_folder(path.absolute().parent)
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWN_FILE), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(connection)))
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise ConnectError(
            f"{path} cannot be written ({error.strerror}); name another with --file."
        ) from error


def withdraw_connection(connection: Connection, path: Path) -> None:
    """Take a connection file away, if it still is this one."""
    with suppress(ConnectError, OSError):
        if read_connection(path) == connection:
            path.unlink()


def connection_to(text: str) -> Connection:
    """The connection that a client names: a file, an address that a file here is of, or a plain one.

    Raises:
        ConnectError: There is none, or it may not be used.
    """
    connection = _named(text, SUFFIX)
    if connection.joins:
        told = f"{text} lets a host join (serve --scheduler), and no client measure"
        raise ConnectError(f"{told}; name the file {SUFFIX} that serve wrote beside it.")
    return connection


def joining_to(text: str) -> Connection:
    """What a host that joins another names: the file for that, its address, or a plain one.

    Raises:
        ConnectError: There is none, or it may not be used.
    """
    connection = _named(text, JOINING_SUFFIX)
    if connection.ca and not connection.joins:
        told = f"{text} lets a client measure, and no host join"
        raise ConnectError(f"{told}; name the file {JOINING_SUFFIX} that serve wrote beside it.")
    return connection


def _named(text: str, suffix: str) -> Connection:
    address = Address.parse(text)
    if address is None:
        return read_connection(in_home(Path(text)))
    if address.scheme == "tcp":
        return checked(Connection(address=text), text)
    known = (_known(path) for path in sorted(connections_dir().glob(f"*{suffix}")))
    if (found := next((one for one in known if one and one.address == text), None)) is not None:
        return found
    remedy = f"copy the one that serve made there into {connections_dir()}, or name it instead of the address"
    raise ConnectError(f"No {suffix.removeprefix('.')} file here is of {text}; {remedy}.")


def read_connection(path: Path) -> Connection:
    """What a connection file holds.

    Raises:
        ConnectError: It is none, or others can read it.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & OTHERS:
                raise ConnectError(f"{path} can be read by others; make it yours alone: chmod 600 {path}")
            connection = msgspec.json.decode(file.read(LARGEST_BYTES), type=Connection)
    except OSError as error:
        raise ConnectError(
            f"{path} cannot be read ({error.strerror}); name the file that serve made, or an address as "
            "tls://HOST:PORT."
        ) from error
    except msgspec.DecodeError as error:
        raise ConnectError(
            f"{path} is no connection file ({error}); name the one that serve made."
        ) from error
    return checked(connection, str(path))


def checked(connection: Connection, said: str) -> Connection:
    """The connection, if it may be used: plain ones stay on this machine.

    Raises:
        ConnectError: It may not.
    """
    address = Address.parse(connection.address)
    if address is None:
        raise ConnectError(f"{said} holds no address ({connection.address[:60]!r}); make it anew with serve.")
    if address.scheme == "tcp" and not is_loopback(address.host):
        raise ConnectError(
            f"{connection.address} would be plain: whoever listens reads and changes what is sent. Name the "
            "file that serve made there, whose address begins with tls://."
        )
    if address.scheme == "tls" and not all((connection.ca, connection.certificate, connection.key)):
        raise ConnectError(f"{said} lacks certificates; copy the file anew from the host.")
    return connection


def _known(path: Path) -> Connection | None:
    try:
        return read_connection(path)
    except ConnectError:
        return None
