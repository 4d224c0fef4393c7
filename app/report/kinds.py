"""The formats that a session can be written in, and how their files are named; light to import."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FileKind:
    """One format.

    Attributes:
        title: What it is, for people.
        suffix: How its files end.
        about: Who reads it.
        picture: Whether it is drawn, so that size and colours can be chosen.
    """

    title: str
    suffix: str
    about: str
    picture: bool = False


KINDS = {
    "csv": FileKind("CSV table", ".csv", "a line a point, for spreadsheets and pandas"),
    "json": FileKind("JSON document", ".json", "every figure with its source, for programs"),
    "parquet": FileKind("Parquet table", ".parquet", "a row a point with every timed run, for data frames"),
    "html": FileKind("HTML report", ".html", "one page with plots and tables, for colleagues and for paper"),
    "perfetto": FileKind(
        "Perfetto trace", ".trace.json", "kernels and telemetry over time, for ui.perfetto.dev"
    ),
    "svg": FileKind("SVG picture", ".svg", "a plot, or all four, for slides", picture=True),
    "png": FileKind("PNG picture", ".png", "a plot, or all four, in pixels", picture=True),
}


def kind_of(name: str) -> str | None:
    """The format of a file by its ending, None when no format ends so; the longest ending counts."""
    ending = [key for key, kind in KINDS.items() if name.lower().endswith(kind.suffix)]
    return max(ending, key=lambda key: len(KINDS[key].suffix), default=None)
