"""The session files that somebody had to do with last, wherever they are."""

from collections.abc import Mapping
from pathlib import Path

from flashscope.profiles.store.info import SessionInfo
from flashscope.profiles.store.listing import info_of, stamps_of


def latest(folder: Path, opened: Mapping[Path, int], most: int) -> list[SessionInfo]:
    """What is in the files recorded, changed or opened last, newest first, each file once.

    Reads no more files than it returns.

    Args:
        folder: All session files in it count, each since it was written last.
        opened: Other files, or the same ones, and when each was opened last, in ns since 1970.
        most: How many to return.
    """
    real = folder.resolve()
    stamps = stamps_of(folder)
    known = {real / path.name: path for path in stamps} | {path.resolve(): path for path in opened}
    since = {real / path.name: stamp.mtime_ns for path, stamp in stamps.items()}
    for path, opened_ns in opened.items():
        file = path.resolve()
        since[file] = max(opened_ns, since.get(file, 0))
    newest = sorted(since, key=lambda file: since[file], reverse=True)
    return [info_of(known[file]) for file in newest[:most]]
