"""The table of a step's attention calls: those that are alike in a row."""

from collections.abc import Sequence
from typing import NamedTuple

from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.words.learn.audits import (
    NOTHING,
    asks_text,
    fastest_text,
    kernels_text,
    layers_text,
    mask_text,
    ran_text,
    shape_text,
)
from flashscope.app.words.units import share_text
from flashscope.kernels.workload.audit import AuditedCall
from flashscope.profiles.results.compare.switching import ReplayedCall

WIDTHS = (180, 46, 78, 196, 112, 92, 60, 290)


class CallRow(NamedTuple):
    """Calls that are alike, and their replay."""

    call: AuditedCall
    replayed: ReplayedCall


def call_columns() -> Sequence[ListColumn[CallRow]]:
    """The columns."""
    return (
        ListColumn("layers", lambda row: layers_text(row.call.layers), tip=_layers),
        ListColumn("calls", lambda row: row.replayed.calls, lambda row: str(row.replayed.calls), right=True),
        ListColumn("of the step", lambda row: row.replayed.share, _share, right=True),
        ListColumn("shape", lambda row: shape_text(row.call.call), tip=_shape),
        ListColumn("mask", lambda row: mask_text(row.call.call)),
        ListColumn("asks for", lambda row: asks_text(row.call.call)),
        ListColumn("ran", lambda row: row.call.ran, tip=_ran),
        ListColumn("fastest replay", _fastest, tip=_fastest),
        ListColumn("step by that", lambda row: row.replayed.share, lambda row: fastest_text(row.replayed)[1]),
    )


def _layers(row: CallRow) -> str:
    return "\n".join(row.call.layers)


def _share(row: CallRow) -> str:
    return NOTHING if row.replayed.share is None else share_text(row.replayed.share)


def _shape(row: CallRow) -> str:
    return f"Batch, query heads, query rows and width of a head: {shape_text(row.call.call)}"


def _ran(row: CallRow) -> str:
    """What ran, why nothing else did, and all of the GPU's kernels there."""
    return "\n".join((ran_text(row.call), *row.call.why_not, *kernels_text(row.call)))


def _fastest(row: CallRow) -> str:
    return fastest_text(row.replayed)[0]
