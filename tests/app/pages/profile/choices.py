"""Another value than the default for every declared choice."""

from typing import Any

from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.profiles.plan.choice import Declared

OTHERS: dict[str, Any] = {
    "kernels": ("flash2",),
    "seqlens": (64, 96, 1000),
    "kv_heads": 4,
    "page_size": 32,
    "softcap": 50.0,
    "head_dim_v": 24,
    "window": (3, -1),
    "blocks": BlockPattern(local=1, random=0.25),
}
# Without which a choice makes no problem.
BESIDE: dict[str, dict[str, Any]] = {"lengths": {"batch": 2}, "deterministic": {"passes": "both"}}


def another(declared: Declared) -> Any:
    """A value that the choice takes and that is its default on no backend."""
    if declared.name in OTHERS:
        return OTHERS[declared.name]
    defaults = {*(declared.choice.defaults or {}).values(), declared.default}
    match declared.kind:
        case kind if kind is bool:
            return not declared.default
        case kind if kind in {int, float}:
            return max(number for number in defaults if number is not None) + 8
        case _:
            return next(word for word in declared.options if word not in defaults)
