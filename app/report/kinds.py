"""The formats that a session can be written in: how their files are named, and what a file holds.

Light to import, as every command asks for the names: what writes a format is loaded when it writes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscope.app.words.results.provenance import Provenance
    from flashscope.profiles.results.model.session import Session

Write = Callable[["Session", str | None, "Provenance"], bytes]


@dataclass(frozen=True)
class FileKind:
    """One format.

    Attributes:
        title: What it is, for people.
        suffix: How its files end.
        about: Who reads it.
        write: What a file holds: of a session, its own file's path if it has one, and where the figures come
            from. None: it is a picture, drawn in a size and in colours that can be chosen.
        with_ranks: Whether it has what several ranks did, too.
    """

    title: str
    suffix: str
    about: str
    write: Write | None = None
    with_ranks: bool = False

    @property
    def picture(self) -> bool:
        """Whether it is drawn."""
        return self.write is None


def _csv(session: "Session", _path: str | None, source: "Provenance") -> bytes:
    from flashscope.profiles.results.formats.export import to_csv  # noqa: PLC0415 - when it writes

    return to_csv(session, source.badge).encode()


def _json(session: "Session", path: str | None, source: "Provenance") -> bytes:
    from flashscope.profiles.results.formats.export import to_json  # noqa: PLC0415 - when it writes

    return to_json(session, path, source.badge)


def _parquet(session: "Session", path: str | None, source: "Provenance") -> bytes:
    from flashscope.profiles.results.formats.parquet import to_parquet  # noqa: PLC0415 - when it writes

    return to_parquet(session, path, source.badge)


def _page(session: "Session", _path: str | None, source: "Provenance") -> bytes:
    from flashscope.app.report.session_page import session_page  # noqa: PLC0415 - when it writes

    return session_page(session, source)


def _perfetto(session: "Session", _path: str | None, source: "Provenance") -> bytes:
    from flashscope.profiles.results.formats.perfetto import to_perfetto  # noqa: PLC0415 - when it writes

    return to_perfetto(session, source.badge)


KINDS = {
    "csv": FileKind(
        "CSV table",
        ".csv",
        "a line a point, for spreadsheets and pandas",
        _csv,
        with_ranks=True,
    ),
    "json": FileKind(
        "JSON document",
        ".json",
        "every figure with its source, for programs",
        _json,
        with_ranks=True,
    ),
    "parquet": FileKind(
        "Parquet table",
        ".parquet",
        "a row a point with every timed run, for data frames",
        _parquet,
    ),
    "html": FileKind(
        "HTML report",
        ".html",
        "one page with plots and tables, for colleagues and for paper",
        _page,
        with_ranks=True,
    ),
    "perfetto": FileKind(
        "Perfetto trace",
        ".trace.json",
        "kernels and telemetry over time, for ui.perfetto.dev",
        _perfetto,
    ),
    "svg": FileKind("SVG picture", ".svg", "a plot, or all four, for slides"),
    "png": FileKind("PNG picture", ".png", "a plot, or all four, in pixels"),
}


def kind_of(name: str) -> str | None:
    """The format of a file by its ending, None when no format ends so; the longest ending counts."""
    ending = [key for key, kind in KINDS.items() if name.lower().endswith(kind.suffix)]
    return max(ending, key=lambda key: len(KINDS[key].suffix), default=None)


def report_bytes(kind: str, session: "Session", path: str | None, source: "Provenance") -> bytes:
    """What a file of that kind holds.

    Args:
        kind: A key of KINDS that is not a picture.
        session: What to write.
        path: The session's file, None when it has none.
        source: Where the figures come from.

    Raises:
        UnsupportedError: A library that the format needs is not installed.
        ValueError: It is a picture.
    """
    write = KINDS[kind].write
    if write is None:
        raise ValueError(f"{kind} is a picture")
    return write(session, path, source)
