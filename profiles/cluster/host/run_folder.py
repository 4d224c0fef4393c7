"""The folder of one run of a host, and those that runs which were killed have left."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from flashscope.home import OWN_FILE

PREFIX = "flashscope-serve-"
LOCK = "lock"  # held for as long as the run lives; the system lets go of it, however a process ends


class HostError(Exception):
    """A host cannot go on; the text says why."""


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder for the run; folders of runs that were killed are taken away.

    Raises:
        HostError: There is no place for it.
    """
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))
            stack.callback(os.close, _locked(folder))
        except OSError as error:
            raise _no_room("The system's temporary folder", error) from error
        remove_stale(folder.parent)
        yield folder


def remove_stale(parent: Path) -> None:
    """Remove the user's folders of runs that no process holds any more; who cannot be asked keeps its own."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            told = folder.lstat()
            if stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid() and _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def keep_proofs(ca: str, certificate: str, key: str, folder: Path) -> None:
    """Write what the host's own processes prove themselves with, as PEM, for nobody else to read.

    Raises:
        HostError: They cannot be written.
    """
    texts = {"ca.cert": ca, "host.cert": certificate, "host.key": key}
    try:
        for name, text in texts.items():
            path = folder / name
            path.touch(OWN_FILE, exist_ok=False)
            path.write_text(text, encoding="ascii")
    except OSError as error:
        raise _no_room(str(folder), error) from error


def _locked(folder: Path) -> int:
    """Hold the folder; its lock appears under its name once it is held, so that nobody finds it free."""
    new = folder / f"{LOCK}.new"
    number = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWN_FILE)
    fcntl.flock(number, fcntl.LOCK_EX)
    new.rename(folder / LOCK)
    return number


def _is_left(folder: Path) -> bool:
    """Whether nobody holds a folder's lock.

    Raises:
        OSError: It has none, as those of older versions and those that are just made, or is held.
    """
    number = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(number)
    return True


def _no_room(folder: str, error: OSError) -> HostError:
    remedy = "free some space there, or name another folder with TMPDIR"
    return HostError(f"{folder} takes no files ({error.strerror}); {remedy}.")
