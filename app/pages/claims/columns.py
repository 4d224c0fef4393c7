"""The table of claims: a claim a row."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.look.theme import Theme
from app.pages.compare.list_model import ListColumn
from app.words.claims import verdict_text
from profiles.claims import VERDICTS, Claim, Finding

NOT_YET = "not tested yet"
WIDTHS = (142, 102, 350, 300)


class Row(NamedTuple):
    """A claim, and what came of it; None before."""

    claim: Claim
    finding: Finding | None = None

    @property
    def verdict(self) -> str:
        """The verdict with its glyph, or that there is none."""
        return verdict_text(self.finding.verdict) if self.finding else NOT_YET


Column = ListColumn[Row]


def columns(theme: Callable[[], Theme]) -> Sequence[Column]:
    """The columns, in the colours in use."""
    return (
        Column(
            "verdict",
            lambda row: VERDICTS.index(row.finding.verdict) if row.finding else None,
            lambda row: row.verdict,
            colour=lambda row: colour(row, theme()),
        ),
        Column("stands in", _order, lambda row: f"{row.claim.document} : {row.claim.lines[0]}", tip=_place),
        Column("claim", lambda row: row.claim.says, tip=lambda row: row.claim.says),
        Column("measured", _measured, tip=_measured),
    )


def colour(row: Row, theme: Theme) -> str:
    """The colour of a row's verdict."""
    found = row.finding.verdict if row.finding else None
    return {"holds": theme.ok, "does not hold": theme.error}.get(found or "", theme.dim)


def _order(row: Row) -> float:
    return 10_000 * int(row.claim.document) + row.claim.lines[0]


def _place(row: Row) -> str:
    return f"Document {row.claim.place}"


def _measured(row: Row) -> str:
    return row.finding.measured if row.finding else ""
