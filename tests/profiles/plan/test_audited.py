"""An audited model is planned by what its calls were seen to ask for."""

from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.audit import AttentionCall, AuditedCall, ModelAudit, ModelPhase
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.audited import planned
from tests.profiles.store import builders

SHAPE, KV_SHAPE = (1, 32, 512, 128), (1, 8, 512, 128)
FULL = AttentionCall(q_shape=SHAPE, k_shape=KV_SHAPE, v_dim=128, dtype="bfloat16", mask="causal", causal=True)
WINDOW = replace(FULL, mask="window", window=(127, -1))


def call(what: AttentionCall, *layers: int, phase: ModelPhase = "prefill") -> AuditedCall:
    return AuditedCall(phase=phase, call=what, layers=tuple(f"layers.{n}" for n in layers))


def decoded(keys: int, *layers: int) -> AuditedCall:
    one = replace(FULL, q_shape=(1, 32, 1, 128), k_shape=(1, 8, keys, 128), mask="none", causal=False)
    return call(one, *layers, phase="decode")


def audit(*calls: AuditedCall, **fields: Any) -> ModelAudit:
    whole = {"layers": 4, "layers_in_all": 4, "parameters": 1000, "weight_bytes": 2000} | fields
    return replace(builders.audit(), calls=calls, **whole)


def test_layers_heads_and_widths_are_those_of_the_calls() -> None:
    found, cautions = planned(audit(call(FULL, 0, 1, 2, 3)))
    assert (found.layers, found.heads, found.kv_heads, found.head_dim) == (4, 32, 8, 128)
    assert (found.window, found.latent, found.weight_bytes) == (0, 0, 2.0)
    assert found.parameters == pytest.approx(1e-6)
    assert not cautions


def test_layers_that_were_left_out_are_planned_too() -> None:
    cut = audit(call(FULL, 0, 1, 2, 3), layers_in_all=32, parameters_in_all=8_000_000_000)
    found, cautions = planned(cut)
    assert (found.layers, found.parameters) == (32, 8.0)
    assert not cautions
    uncounted = planned(replace(cut, parameters_in_all=0))
    assert uncounted.cautions == ("Weights are those of the 4 layers that were built.",)


def test_a_window_of_every_layer_is_planned_and_one_of_some_is_told() -> None:
    assert planned(audit(call(WINDOW, 0, 1, 2, 3))).model.window == 128
    found, cautions = planned(audit(call(WINDOW, 0, 2), call(FULL, 1, 3)))
    assert (found.layers, found.window) == (4, 0)
    assert cautions == ("2 of 4 layers have a window of 128; all are planned without one.",)


def test_a_window_that_hides_nothing_yet_is_known_by_the_cache_that_it_cuts() -> None:
    found, cautions = planned(audit(call(FULL, 0, 1, 2, 3), decoded(300, 0, 2), decoded(900, 1, 3)))
    assert found.window == 0
    assert cautions == ("2 of 4 layers have a window of 300; all are planned without one.",)


def test_values_of_another_width_are_cached_at_that() -> None:
    narrow = replace(FULL, q_shape=(1, 128, 512, 192), k_shape=(1, 128, 512, 192))
    found = planned(audit(call(narrow, 0, 1, 2, 3))).model
    assert (found.head_dim, found.latent) == (192, 128 * (192 + 128))


def test_of_an_encoder_and_a_decoder_the_decoder_is_planned() -> None:
    encoder = replace(FULL, mask="none", causal=False)
    across = replace(encoder, k_shape=(1, 8, 1500, 128))
    found = planned(audit(call(encoder, 4, 5), call(FULL, 0, 1), call(across, 2, 3))).model
    assert found.layers == 2


def test_a_model_that_is_no_decoder_is_refused() -> None:
    with pytest.raises(InputError, match="has no causal attention"):
        planned(audit(call(replace(FULL, mask="none", causal=False), 0)))
