"""A real sshd on the loopback, and an ssh that knows it."""

import getpass
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.end_to_end import program

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
WITHOUT = None if SSHD and shutil.which("ssh") else "sshd and ssh must be installed"

SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
SetEnv FLASHSCOPE_HOME={folder}/far PYTHONPATH={sources}
"""
CLIENT = """\
Host lab
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  BatchMode yes
  StrictHostKeyChecking no
  UserKnownHostsFile {folder}/known
  LogLevel ERROR
"""


class Lab(NamedTuple):
    """A machine that ssh calls `lab`.

    Attributes:
        path: Of programs, with an ssh that knows it before all others.
        checkout: A folder there with a checkout and its environment.
        server: The sshd.
    """

    path: str
    checkout: Path
    server: "subprocess.Popen[bytes]"


@contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    """An sshd that lets in who holds a key made here."""
    for name in ("host_key", "user_key"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(make, check=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    names = {"folder": folder, "port": port, "user": getpass.getuser(), "sources": program.SOURCES}
    (folder / "sshd_config").write_text(SERVER.format(**names), encoding="ascii")
    (folder / "ssh_config").write_text(CLIENT.format(**names), encoding="ascii")
    _script(folder / "bin" / "ssh", f'exec {shutil.which("ssh")} -F {folder}/ssh_config "$@"')
    checkout = folder / "check out"
    _script(checkout / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    (checkout / "main.py").symlink_to(program.ROOT / "main.py")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    command = [str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server_process:
        assert server_process.stderr is not None
        line = server_process.stderr.readline()
        assert b"listening" in line, line
        try:
            yield Lab(f"{folder / 'bin'}:{os.environ['PATH']}", checkout, server_process)
        finally:
            server_process.terminate()


def _script(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
