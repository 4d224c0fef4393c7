"""What the planner found as one JSON document: bytes, tokens and ms; missing is null, beside its reason."""

from typing import Any

import msgspec

from flashscope.profiles.results.planner.crossing import RecordedCrossing
from flashscope.profiles.results.planner.outlook import Outlook, Prospect


def outlook_document(found: Outlook, crossed: RecordedCrossing | None) -> dict[str, Any]:
    """The outlook, and where a tiled kernel overtakes standard among the points that were measured.

    `forecast` holds what was not measured, and nothing else does: figures of bytes are the exact ledger.
    """
    return {
        "model": msgspec.to_builtins(found.model),
        "setting": msgspec.to_builtins(found.setting),
        "place": found.place,
        "capacity_bytes": found.capacity,
        "kernels": [_kernel(found, one) for one in found.prospects],
        "crossing": None
        if crossed is None
        else {"tiled": crossed.tiled, "measured_on": crossed.shape, **crossed.crossing._asdict()},
    }


def _kernel(found: Outlook, one: Prospect) -> dict[str, Any]:
    held, told = one.ledger, one.forecast
    return {
        "kernel": one.kernel,
        "reason": one.reason or None,
        "fits": one.fits if held else None,
        "total_bytes": held.total if held else None,
        "terms": {term.name: term.nbytes for term in held.terms if term.nbytes} if held else None,
        "attention_bytes": held.attention if held else None,
        "layers_held": held.layers if held else None,
        "longest_context": one.longest.tokens if one.longest else None,
        "bound_by": one.longest.binds if one.longest else None,
        "forecast": None
        if told is None
        else {**msgspec.to_builtins(told), "all_layers_ms": told.ms * found.model.layers},
        "no_forecast": one.silent or None,
    }
