"""The table of claims: a claim a row."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from flashscope.app.look.theme import Theme
from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.words.learn.claims import verdict_text
from flashscope.profiles.claims import CLAIM_VERDICTS, DOCUMENTS, Claim, ClaimResult

NOT_YET = "not tested yet"
MEASURED = 3  # the column of what was measured
WIDTHS = (142, 176, 350, 300)


class ClaimRow(NamedTuple):
    """A claim, and what came of it; None before."""

    claim: Claim
    finding: ClaimResult | None = None

    @property
    def verdict(self) -> str:
        """The verdict with its glyph, or that there is none."""
        return verdict_text(self.finding.verdict) if self.finding else NOT_YET


ClaimColumn = ListColumn[ClaimRow]


def claim_columns(theme: Callable[[], Theme]) -> Sequence[ClaimColumn]:
    """The columns, in the colours in use."""
    return (
        ClaimColumn(
            "verdict",
            lambda row: CLAIM_VERDICTS.index(row.finding.verdict) if row.finding else None,
            lambda row: row.verdict,
            colour=lambda row: colour(row, theme()),
        ),
        ClaimColumn(
            "stands in", _order, lambda row: f"document {row.claim.document}, {_line(row)}", tip=_place
        ),
        ClaimColumn("claim", lambda row: row.claim.says, tip=lambda row: row.claim.says),
        ClaimColumn("measured", _measured, tip=_measured),
    )


def colour(row: ClaimRow, theme: Theme) -> str:
    """The colour of a row's verdict."""
    found = row.finding.verdict if row.finding else None
    return {"holds": theme.ok, "does not hold": theme.error}.get(found or "", theme.dim)


def _order(row: ClaimRow) -> float:
    return 10_000 * int(row.claim.document) + row.claim.lines[0]


def _line(row: ClaimRow) -> str:
    return f"line {row.claim.lines[0]}"


def _place(row: ClaimRow) -> str:
    title = next(one.title for one in DOCUMENTS if one.number == row.claim.document)
    return f"{title}\nDocument {row.claim.place}"


def _measured(row: ClaimRow) -> str:
    return row.finding.measured if row.finding else ""
