"""What a user keeps in a session after it was measured and takes out again, such as traces and timelines."""

from pathlib import Path

from flashscope.profiles.store.blobs.packing import packed
from flashscope.profiles.store.blobs.places import PLACES, Keepable, room_for
from flashscope.profiles.store.errors import ReplacedFileError, SessionFileError
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import editing
from flashscope.profiles.store.schema import MAX_FILE_BYTES, MAX_UNPACKED_BYTES, MAX_VALUE_BYTES
from flashscope.profiles.store.sealed_rows import seal_batches

SPARE_BYTES = 1 << 20  # for what else stands beside a value: its digest, and pages that it fills in part


def keep(path: Path, value: Keepable, meant: str) -> int:
    """Write what is one value into a session, behind others of its kind; returns its number there.

    Args:
        path: The session's file.
        value: What is kept.
        meant: Id of the session that is meant.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has as many as it may, the value is too large, or the file cannot be written.
    """
    place = PLACES[type(value)]
    noun, table, column, most = place.noun, place.table, place.column, place.most
    blob = packed(value)
    if len(blob) > MAX_VALUE_BYTES:
        raise SessionFileError(f"The {noun} takes {len(blob) >> 20} MiB; no session file holds so much.")
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        counted = f"SELECT count(*), coalesce(max(n), 0) FROM {table}"  # noqa: S608 - our names
        held, last = connection.execute(counted).fetchone()
        if held >= most:
            raise SessionFileError(f"{path} has {held} {noun}s; it takes no more.")
        if path.stat().st_size + len(blob) > MAX_FILE_BYTES - SPARE_BYTES:
            size = f"{MAX_FILE_BYTES >> 20} MiB"
            raise SessionFileError(f"{path} would be larger than a session may be ({size}) with this {noun}.")
        if not room_for(connection, blob):
            size = f"{MAX_UNPACKED_BYTES >> 20} MiB"
            raise SessionFileError(f"{path} would take more than {size} of memory with this {noun}.")
        connection.execute(f"INSERT INTO {table} (n, {column}) VALUES (?, ?)", (last + 1, blob))  # noqa: S608 - our names
        seal_batches(connection)
    return int(last) + 1


def drop(path: Path, kind: type[Keepable], number: int, meant: str) -> None:
    """Take what is one value out of a session again.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has none of this number, or the file cannot be written.
    """
    noun, table = PLACES[kind][:2]
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        if not connection.execute(f"DELETE FROM {table} WHERE n = ?", (number,)).rowcount:  # noqa: S608 - our names
            raise SessionFileError(f"{path} has no {noun} {number} any more.")
        connection.execute("DELETE FROM batches WHERE name = ? AND last = ?", (table, number))
