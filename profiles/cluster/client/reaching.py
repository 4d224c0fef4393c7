"""From what a user names to a connection: a file, an address, or a machine where ssh starts a host."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from flashscope.installation import install_command
from flashscope.profiles.cluster.client.ssh import SshAddress, host_by_ssh
from flashscope.profiles.cluster.connection import ConnectError, Connection, connection_to

if TYPE_CHECKING:  # it imports Dask
    from flashscope.profiles.cluster.client.remote import RemoteEngine


def remote_engine() -> "type[RemoteEngine]":
    """The engine that measures elsewhere; Dask is imported for it.

    Raises:
        ConnectError: What it needs is not installed.
    """
    try:
        from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask
    except ModuleNotFoundError as error:
        told = f"Connecting needs {error.name}, which is not installed here"
        raise ConnectError(f"{told}: {install_command('cluster')}") from error
    return RemoteEngine


@contextmanager
def reached(
    named: str, started: Callable[["subprocess.Popen[str]"], None] = lambda _process: None
) -> Iterator[Connection]:
    """The connection of a file or an address; a host that ssh starts for it ends with it.

    Args:
        named: The file, `tls://HOST:PORT`, `tcp://127.0.0.1:PORT` or `ssh://USER@MACHINE/FOLDER`.
        started: Told of the ssh, where it takes one.

    Raises:
        ConnectError: There is none, or it may not be used.
    """
    address = SshAddress.parse(named)
    with nullcontext() if address is None else host_by_ssh(address, started) as host:
        yield host or connection_to(named)
