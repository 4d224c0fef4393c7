"""The model of an audit as the planner takes it: layers, heads, widths and windows as its calls have them."""

from collections.abc import Sequence
from typing import NamedTuple

from flashscope.kernels.workload.audit import AuditedCall, ModelAudit
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.models import Model


class AuditedPlan(NamedTuple):
    """A model and what is to be known before its plan is believed, in sentences."""

    model: Model
    cautions: tuple[str, ...]


def planned(audit: ModelAudit) -> AuditedPlan:
    """What the planner takes of an audited decoder.

    Raises:
        InputError: No layer of it attends to tokens before its own, as a decoder's do.
    """
    calls = [one for one in audit.calls if one.phase == audit.phases[0] and _is_decoders(one)]
    if not calls:
        raise InputError(f"{audit.model} has no causal attention, and the planner is about decoders")
    call = max(calls, key=lambda one: len(one.layers)).call
    heads, head_dim = call.q_shape[1], call.q_shape[3]
    kv_heads = call.k_shape[1]
    built = sum(len(one.layers) for one in calls)
    windows = _windows(audit, [layer for one in calls for layer in one.layers])
    parameters = audit.parameters_in_all or audit.parameters
    model = Model(
        name=audit.model,
        layers=round(built * audit.layers_in_all / audit.layers) if audit.layers else built,
        heads=heads,
        kv_heads=None if kv_heads == heads else kv_heads,
        head_dim=head_dim,
        window=0 if None in windows else max(filter(None, windows)),
        latent=kv_heads * (head_dim + call.v_dim) if call.v_dim != head_dim else 0,
        parameters=parameters / 1e9,
        weight_bytes=audit.weight_bytes / audit.parameters,
    )
    return AuditedPlan(model, tuple(_cautions(audit, calls, windows)))


def _is_decoders(one: AuditedCall) -> bool:
    """Whether a call is of tokens that attend to those before them."""
    call = one.call
    return (call.causal or bool(call.window and call.window[1] < 1)) and call.q_shape[2] == call.k_shape[2]


def _windows(audit: ModelAudit, layers: Sequence[str]) -> list[int | None]:
    """The keys that each layer's window leaves, as its mask says or as its cache keeps; None: all."""
    masked = {layer: one.call.window[0] + 1 for one in audit.calls if one.call.window for layer in one.layers}
    decoded = {
        layer: one.call.k_shape[2] for one in audit.calls if one.phase == "decode" for layer in one.layers
    }
    longest = max((decoded.get(layer, 0) for layer in layers), default=0)
    kept = {layer: keys for layer, keys in decoded.items() if keys < longest}
    return [masked.get(layer, kept.get(layer)) for layer in layers]


def _cautions(audit: ModelAudit, calls: Sequence[AuditedCall], windows: Sequence[int | None]) -> list[str]:
    told = []
    some = sorted({one for one in windows if one})
    if some and (len(some) > 1 or None in windows):
        narrow = sum(one is not None for one in windows)
        which = "the widest is planned" if None not in windows else "all are planned without one"
        told.append(
            f"{narrow} of {len(windows)} layers have a window of {' or '.join(map(str, some))}; {which}."
        )
    shapes = {(one.call.q_shape[1], one.call.q_shape[3], one.call.k_shape[1]) for one in calls}
    if len(shapes) > 1:
        told.append("Its layers have heads of several kinds; those of most layers are planned.")
    if audit.layers < audit.layers_in_all and not audit.parameters_in_all:
        told.append(f"Weights are those of the {audit.layers} layers that were built.")
    return told
