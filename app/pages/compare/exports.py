"""What the export menus of the Compare page's plots write."""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QSize

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.words.kinds import column_name
from flashscope.app.words.results.sessions import device_of, minute_of
from flashscope.app.words.version import own_version
from flashscope.profiles.results.compare import Pair
from flashscope.profiles.results.quantities.quantity import Quantity

PICTURE = (760, 420)  # pixels at 100 % of a plot in an exported picture, at least


def exported(
    findings: Findings, plot: pg.PlotWidget, title: str, kernels: Sequence[str], theme: Theme
) -> Export:
    """A plot of the comparison as a picture, and every pair as a table."""
    quantity = findings.comparison.quantity
    return Export(
        title=f"{title}: {quantity.title}",
        name=f"compare-{quantity.key}",
        plots=[plot],
        theme=theme,
        provenance=_header(findings),
        columns=["session", "kernel", "problem", "seqlen", *_headings(quantity)],
        rows=[_row(findings, number, pair) for number, pair in findings.pairs],
        kernels=kernels,
        least=QSize(*map(px, PICTURE)),
    )


def _header(findings: Findings) -> dict[str, str]:
    """Every session, each verdict in a sentence, and who wrote it."""
    told = {
        "baseline" if not number else f"session {number}": (
            f"{one.name} ({device_of(one.session)}, {minute_of(one.session)})"
        )
        for number, one in enumerate(findings.members)
    }
    told |= {f"summary {k}": one.summary for k, one in enumerate(findings.comparison.contrasts, 1)}
    return told | {"written by": f"Flashscope {own_version()}"}


def _headings(quantity: Quantity) -> list[str]:
    name = column_name(quantity)
    return [f"{name}_baseline", f"{name}_here", "ratio", "ratio_low", "ratio_high", "verdict", "reason"]


def _row(findings: Findings, number: int, pair: Pair) -> list[ExportCell]:
    figures = (pair.base_figure, pair.other_figure)
    values = [None if figure is None else figure.value for figure in figures]
    place = [findings.members[number].name, pair.kernel, findings.curves[pair.base.problem].label]
    ends = [pair.ratio, pair.ratio_low, pair.ratio_high]
    return [*place, pair.base.seqlen, *values, *ends, pair.verdict, pair.reason]
