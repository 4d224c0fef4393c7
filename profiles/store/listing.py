"""Lists of session files: what is in each file of a folder."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from flashscope.profiles.plan.problem_words import pass_words
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.store.blobs.packing import Unpacking
from flashscope.profiles.store.blobs.places import held_in
from flashscope.profiles.store.errors import SessionFileError
from flashscope.profiles.store.headers import Headers, Stamp
from flashscope.profiles.store.info import SessionInfo
from flashscope.profiles.store.opening import opened
from flashscope.profiles.store.reader import kept, read_head, read_run_mark, validating
from flashscope.profiles.store.schema import MAX_POINTS, SUFFIX
from flashscope.profiles.store.sidecars import leftovers
from flashscope.profiles.store.words import read_bookmarks, read_tags
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.ranks import RanksResult

FIRST_BATCH_S, BATCH_S = 0.05, 0.5  # after which what was read is handed on


def list_sessions(folder: Path) -> list[SessionInfo]:
    """What is in each session file of a folder, newest first; unreadable ones come last, with the reason.

    No file keeps another from being listed, whatever is wrong with it.
    """
    listed = [info for batch in listing(folder) for info in batch]
    return sorted(listed, key=lambda info: (moment(info.started_at), info.path.name), reverse=True)


def listing(folder: Path, cache: Headers | None = None) -> Iterator[list[SessionInfo]]:
    """As `list_sessions`, in batches as they are read: first what the cache knows, then the newest files."""
    stamps = stamps_of(folder)
    known = cache.of(folder) if cache else {}
    yield [info for path, (stamp, info) in known.items() if stamps.get(path) == stamp]
    unread = [path for path in stamps if path not in known or known[path][0] != stamps[path]]
    read: list[tuple[Stamp, SessionInfo]] = []
    try:
        for batch in _in_batches(sorted(unread, key=lambda path: stamps[path].mtime_ns, reverse=True)):
            read += [(stamps[info.path], info) for info in batch if not leftovers(info.path)]
            yield batch
    finally:
        gone = known.keys() - stamps.keys()
        if cache and (read or gone):
            cache.keep(folder, read, gone)


def stamps_of(folder: Path) -> dict[Path, Stamp]:
    """Every session file of a folder, and what tells whether it has changed."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIX)]
    except OSError:  # there is none yet
        return {}
    return {folder / entry.name: _stamp(entry) for entry in entries}


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        found = entry.stat()
    except OSError:  # reading it will say why
        return Stamp(-1, -1)
    return Stamp(found.st_size, found.st_mtime_ns)


def _in_batches(paths: Iterable[Path]) -> Iterator[list[SessionInfo]]:
    batch: list[SessionInfo] = []
    due = time.monotonic() + FIRST_BATCH_S
    for path in paths:
        batch.append(info_of(path))
        if time.monotonic() >= due:
            yield batch
            batch, due = [], time.monotonic() + BATCH_S
    yield batch


def info_of(path: Path) -> SessionInfo:
    """What is in a session file, or why that is not known."""
    try:
        return _readable(path)
    except (SessionFileError, OSError) as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - see list_sessions
        reason = f"{path} cannot be read: {type(error).__name__}: {error}"
    return SessionInfo(path=path, size_bytes=_size(path), error=reason)


def _readable(path: Path) -> SessionInfo:
    with validating(path), opened(path) as connection:
        head, plan, machine = read_head(connection)
        counts = "SELECT status, count(*) FROM points WHERE point < ? GROUP BY status"
        listed = dict(connection.execute(counts, (plan.cells,)))
        statuses = msgspec.convert(listed, type=dict[PointStatus, int])
        alone = not plan.problems
        held = held_in(connection) if alone else {}
        results = kept(connection, RanksResult, {}, Unpacking()) if alone else []
    problems = [*plan.problems, *(one.asked.problem for one in results)]
    device = machine.device(plan.backend)
    return SessionInfo(
        path=path,
        size_bytes=_size(path),
        id=head.id,
        name=head.name,
        note=head.note,
        tags=read_tags(head.tags),
        bookmarks=len(read_bookmarks(head.bookmarks, MAX_POINTS)),
        started_at=head.started_at,
        backend=plan.backend,
        device=device.name if device else "",
        kernels=plan.kernels,
        own=plan.own,
        seqlens=_rising(problem.seqlen for problem in problems),
        dtype=plan.problems[0].dtype if plan.problems else None,
        passes=tuple(dict.fromkeys(pass_words(problem) for problem in plan.problems)),
        outcome=head.outcome,
        statuses=statuses,
        run_mark=read_run_mark(head),
        held=held,
    )


def _size(path: Path) -> int:
    """The size in bytes, 0 of what is not there to be asked."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _rising(lengths: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(lengths)))
