"""The git commit that is checked out around a file, asked without running what a repository names."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

ANSWER_S = 5.0
SHA1_DIGITS = 40


class Commit(NamedTuple):
    """A commit in hex, and whether the file is other than in it, or not in it at all."""

    id: str
    differs: bool


def commit_of(path: Path, data: bytes) -> Commit | None:
    """The commit around a file with these bytes; None where there is none, or no git.

    No filter and no hook of the repository runs: the file's hash is made here.
    """
    head = _asked(path.parent, "rev-parse", "--verify", "HEAD")
    if head is None:
        return None
    known = _asked(path.parent, "rev-parse", "--verify", f"HEAD:./{path.name}")
    return Commit(head, known != _blob(data, len(head)))


def _blob(data: bytes, digits: int) -> str:
    """The name that git gives to these bytes."""
    whole = b"blob %d\0" % len(data) + data
    made = hashlib.sha1(whole, usedforsecurity=False) if digits == SHA1_DIGITS else hashlib.sha256(whole)
    return made.hexdigest()


def _asked(folder: Path, *words: str) -> str | None:
    import subprocess  # noqa: PLC0415 - only where a file is named, and it takes longer than all else here

    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *words],  # noqa: S607 - the user's own git
            capture_output=True,
            check=True,
            text=True,
            timeout=ANSWER_S,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return None
    return answer.stdout.strip() or None
