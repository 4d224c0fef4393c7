"""A session in each format that is not a picture, as the bytes of a file."""

from collections.abc import Callable

from app.words.provenance import Provenance
from profiles.results.cells import comment
from profiles.results.export import to_csv, to_json
from profiles.results.parquet import to_parquet
from profiles.results.perfetto import to_perfetto
from profiles.results.session import Session

Write = Callable[[Session, str | None, Provenance], bytes]
WRITERS: dict[str, Write] = {
    "csv": lambda session, _, source: (comment("provenance", source.badge) + to_csv(session)).encode(),
    "json": lambda session, path, _: to_json(session, path),
    "parquet": lambda session, path, _: to_parquet(session, path),
    "html": lambda session, _, source: _page(session, source),
    "perfetto": lambda session, *_: to_perfetto(session),
}


def document(kind: str, session: Session, path: str | None, source: Provenance) -> bytes:
    """What a file of that kind holds.

    Args:
        kind: A key of KINDS that is not a picture.
        session: What to write.
        path: The session's file, None when it has none.
        source: Where the figures come from.

    Raises:
        UnsupportedError: A library that the format needs is not installed.
    """
    return WRITERS[kind](session, path, source)


def _page(session: Session, source: Provenance) -> bytes:
    from app.report.session_page import session_page  # noqa: PLC0415 - its plots take a while to load

    return session_page(session, source)
