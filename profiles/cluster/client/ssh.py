"""A host that is started for one client by the system's own ssh, and ends with it."""

import re
import shlex
import socket
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from flashscope.profiles.cluster.connection import Address, ConnectError, Connection

SSH_ADDRESS = re.compile(
    r"ssh://(?P<host>(?:[^\s@/-][^\s@/]*@)?[^\s@:/-][^\s@:/]*)(?::(?P<port>\d{1,5}))?(?:/(?P<folder>.*))?"
)
OPTIONS = ("BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=3")
"""Beside the user's own: it asks nothing; what does not answer is told after 20 s, a dead link after 45 s."""
SERVE = ("serve", "--once", "--trust-code", "--host", "127.0.0.1", "--port", "0", "--file", "-")
UNKNOWN_OPTION = "No such option"  # which `serve` of an older Flashscope says
END_S = 15.0  # that a host may take to end its children once its client has left
KEPT_LINES = 10  # of what ssh and the host have said on stderr


class SshAddress(NamedTuple):
    """Where ssh leads: its destination, its port (empty: ssh's own choice), the folder of the checkout there.

    Without a folder the command `flashscope` is run, which an installed wheel has.
    """

    destination: str
    port: str
    folder: str

    @classmethod
    def parse(cls, text: str) -> "SshAddress | None":
        """The parts, None where the text is no such address."""
        found = SSH_ADDRESS.fullmatch(text)
        return None if found is None else cls(found["host"], found["port"] or "", found["folder"] or "")

    @property
    def remote_command(self) -> str:
        """What is run there, by the shell of the user."""
        words = shlex.join(SERVE)
        if not self.folder:
            return f"exec flashscope {words}"
        python = '"$(test -x .venv/bin/python && echo .venv/bin/python || echo python3)"'
        return f"cd {_quoted(self.folder)} && exec {python} main.py {words}"


@contextmanager
def host_by_ssh(
    address: SshAddress, started: Callable[["subprocess.Popen[str]"], None] = lambda _process: None
) -> Iterator[Connection]:
    """Start a host there, and end it; the connection leads to it through ssh.

    Args:
        address: Where.
        started: Told of the ssh, which a user may wish to end before the host is there.

    Raises:
        ConnectError: ssh or the host does not begin; the text has what was said last.
    """
    with tempfile.TemporaryDirectory(prefix="flashscope-ssh-") as folder:
        port = ("-p", address.port) if address.port else ()
        ssh = ("ssh", "-S", str(Path(folder) / "control"), *port)
        process = _start((*ssh, "-T", "-M", *_options(), address.destination, address.remote_command))
        said = _LastLines(cast("IO[str]", process.stderr))
        try:
            started(process)
            connection = _printed(cast("IO[str]", process.stdout))
            if connection is None:
                raise ConnectError(_no_host(address, said.last()))
            yield _forwarded(connection, ssh, address)
        finally:
            _end(process)
            said.close()


class _LastLines:
    """The last that a process printed, read as it comes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._thread = threading.Thread(target=self._read, name="ssh", daemon=True)
        self._thread.start()

    def last(self) -> str:
        """The last line, once nothing more comes; empty: there was none."""
        self._thread.join(END_S)
        return next((line.strip() for line in reversed(self._lines) if line.strip()), "")

    def close(self) -> None:
        """Once the process has ended."""
        self._thread.join(END_S)
        self._stream.close()

    def _read(self) -> None:
        for line in self._stream:
            self._lines.append(line)


def _start(command: Sequence[str]) -> "subprocess.Popen[str]":
    """Start ssh where Ctrl-C, which is ours, does not reach it; it has no terminal to ask for a passphrase.

    Raises:
        ConnectError: It cannot be started.
    """
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
    except OSError as error:
        told = f"ssh cannot be started ({error.strerror}); install the client of OpenSSH."
        raise ConnectError(told) from error


def _options() -> Iterator[str]:
    for option in OPTIONS:
        yield from ("-o", option)


def _printed(stream: IO[str]) -> Connection | None:
    """The connection that a host prints once it serves, after what else is printed; None: it has ended."""
    return next(filter(None, map(_connection_in, stream)), None)


def _connection_in(line: str) -> Connection | None:
    try:
        return msgspec.json.decode(line, type=Connection)
    except msgspec.DecodeError:  # what the user's shell prints when it begins
        return None


def _no_host(address: SshAddress, said: str) -> str:
    if UNKNOWN_OPTION in said:
        return f"Flashscope at {address.destination} is older ({said}); use the same commit on both sides."
    remedy = f"look whether `ssh {address.destination}` works, and whether Flashscope is there"
    if not address.folder:
        remedy += f"; of a checkout name the folder: ssh://{address.destination}/FOLDER"
    return f"No host begins at {address.destination} ({said or 'nothing was said'}); {remedy}."


def _forwarded(connection: Connection, ssh: tuple[str, ...], address: SshAddress) -> Connection:
    """The connection by a port of this machine that ssh leads to the host's.

    Raises:
        ConnectError: ssh does not forward it.
    """
    there = Address.parse(connection.address)
    if there is None:
        raise ConnectError(f"{address.destination} serves at no address ({connection.address[:60]!r}).")
    here = _free_port()
    forward = (*ssh, "-O", "forward", "-L", f"127.0.0.1:{here}:127.0.0.1:{there.port}", address.destination)
    try:
        done = subprocess.run(forward, capture_output=True, text=True, check=False, timeout=END_S)
    except subprocess.TimeoutExpired as error:
        told = f"look whether `ssh {address.destination}` still answers, and connect again"
        raise ConnectError(
            f"ssh has not forwarded a port to {address.destination} within {END_S:g} s; {told}."
        ) from error
    if done.returncode != 0:
        told = done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"
        raise ConnectError(
            f"ssh does not forward a port to {address.destination} ({told}); its server must allow that."
        )
    return replace(connection, address=f"{there.scheme}://127.0.0.1:{here}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _end(process: "subprocess.Popen[str]") -> None:
    """Have the host end, which it does when nobody holds its input, then ssh."""
    cast("IO[str]", process.stdin).close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    cast("IO[str]", process.stdout).close()


def _quoted(folder: str) -> str:
    """A folder as a word of the shell there; `~` at its begin is the home of a user there."""
    home, slash, rest = folder.partition("/")
    if re.fullmatch(r"~[\w.-]*", home):
        return f"{home}{slash}{shlex.quote(rest) if rest else ''}"
    return shlex.quote(folder)
