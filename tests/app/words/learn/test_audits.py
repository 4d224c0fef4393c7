"""An audit in words: what differs is told once, and what is not known is not told."""

import pytest
from msgspec.structs import replace

from flashscope.app.words.learn.audits import (
    asks_text,
    audit_head,
    audit_notes,
    fastest_text,
    kernels_of,
    kernels_text,
    lacks_of,
    layers_text,
    mask_text,
    parts_text,
    ran_text,
    real_text,
    reasons_of,
    shape_text,
    step_text,
    vanishing_text,
)
from flashscope.kernels.workload.audit import problem_of
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.compare.switching import (
    IN_PLACE,
    Amdahl,
    Ratio,
    RealStep,
    ReplayedCall,
    StepParts,
    Switching,
    switchings_of,
)
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.events import PointStatus
from tests.profiles.store import builders

KNOWN = builders.audit()
CALL = KNOWN.calls[0].call


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        (("model.layers.0.self_attn", "model.layers.1.self_attn"), "model.layers.0-1.self_attn"),
        (("l.0.a", "l.2.a", "l.3.a", "l.7.a"), "l.0,2-3,7.a"),
        (("encoder.0", "decoder.0", "decoder.1"), "encoder.0, decoder.0-1"),
        (("text",), "text"),
        (("",), "the model"),
    ],
)
def test_layers_that_differ_in_a_number_are_told_once(layers: tuple[str, ...], text: str) -> None:
    assert layers_text(layers) == text


@pytest.mark.parametrize(
    ("reference", "ratio", "text"),
    [
        ("torch-math", Ratio(value=1.21), "flash2 1.21× of torch-math"),
        (IN_PLACE, Ratio(value=0.105), "flash2 0.105× as fast as in the model"),
        (IN_PLACE, Ratio(value=1.1, low=0.9, high=1.2), "flash2, as fast as in the model within the noise"),
    ],
)
def test_a_replay_is_so_many_times_as_fast_as_what_ran(reference: str, ratio: Ratio, text: str) -> None:
    """*0.105× of its time in the model* read as a tenth of the time."""
    call = ReplayedCall(
        phase="prefill",
        layers=("a",),
        calls=1,
        problem=problem_of(CALL),
        needs=(),
        share=0.5,
        reference=reference,
        ratios={"flash2": ratio},
        gains={"flash2": 1.0},
        missing={},
    )
    assert fastest_text(call)[0] == text


def test_a_shape_tells_what_of_keys_and_values_is_unlike_the_queries() -> None:
    assert shape_text(replace(CALL, k_shape=CALL.q_shape)) == "1×4×64×16"
    other = replace(CALL, k_shape=(1, 1, 300, 16), v_dim=8)
    assert shape_text(other) == "1×4×64×16, 1 K/V head, 300 keys, V 8 wide"


def test_a_mask_is_told_with_the_keys_that_its_window_leaves() -> None:
    assert mask_text(CALL) == "causal"
    assert mask_text(replace(CALL, mask="window", window=(127, -1))) == "window 128"
    assert mask_text(replace(CALL, mask="padding")) == "padding, causal"


def test_only_what_is_unusual_is_told_of_what_a_call_asks_for() -> None:
    assert asks_text(replace(CALL, scale=0.25)) == "–"  # 1 / sqrt(16)
    other = replace(CALL, scale=1.0, softcap=50.0, sinks=True, dropout=0.1)
    assert asks_text(other) == "scale 1, softcap 50, sinks, dropout 0.1"
    assert asks_text(replace(CALL, alibi=True)) == "ALiBi"


def test_the_head_says_what_was_built_of_how_much() -> None:
    head = audit_head(KNOWN)
    assert "SmallForCausalLM, 1,000 parameters" in head
    assert "4 of 32 layers" in head
    assert "1 thread;" in head
    assert "torch 2.13.0" in head
    notes = list(audit_notes(KNOWN))
    assert "weighs more in a step" in notes[0]
    assert "_softmax" in notes[2]
    assert "layers" not in audit_head(replace(KNOWN, layers_in_all=4))


def test_reasons_and_lacks_are_told_once_with_their_layers() -> None:
    calls = [replace(one, why_not=("It is so.",)) for one in KNOWN.calls]
    assert reasons_of(calls) == ["model.layers.0-3.self_attn: It is so."]
    (found,) = switchings_of(KNOWN, [])
    assert lacks_of(found.calls)[-1] == "2 calls of model.layers.1,3.self_attn: no kernel here takes dropout."


def test_a_call_that_nothing_replays_is_listed_with_its_dtype_and_what_it_asks_for() -> None:
    """On a CPU float16 alone is reason enough, where a causal mask was blamed."""
    plain = replace(CALL, k_shape=CALL.q_shape, causal=False, mask="none")
    for call, told in (
        (
            replace(plain, softcap=50.0, v_dim=8),
            ", in float32, and it asks for softcapped scores and values of another head dim.",
        ),
        (plain, ", in float32."),
        (replace(plain, dtype="float16"), ", in float16."),
    ):
        calls = tuple(replace(one, call=call) for one in KNOWN.calls[:1])
        (found,) = switchings_of(replace(KNOWN, calls=calls), [])
        (lack,) = lacks_of(found.calls)
        assert lack.endswith(f": no kernel replays it here{told}")


@pytest.mark.parametrize(
    ("status", "reason", "told"),
    [
        ("pending", "", "its replay was broken off; audit the model again."),
        ("interrupted", "The writer ended.", "its replay was broken off; audit the model again."),
        ("unsupported", "flash2 takes no dropout.", "no kernel here takes it: flash2 takes no dropout."),
    ],
)
def test_a_replay_that_was_broken_off_is_not_told_as_one_that_no_kernel_takes(
    status: PointStatus, reason: str, told: str
) -> None:
    problem = problem_of(CALL)
    assert problem is not None
    row = PointRow(
        point=Point(index=0, kernel="flash2", problem=problem),
        backend="cpu",
        status=status,
        reason=reason,
        predicted_bytes=1,
        sampling_ns=None,
        measurement=None,
    )
    (found,) = switchings_of(replace(KNOWN, calls=KNOWN.calls[:1]), [row])
    (lack,) = lacks_of(found.calls)
    assert lack.endswith(f": {told}")


def test_a_disagreement_names_the_largest_part_first() -> None:
    parts = StepParts(in_place=-0.5, rest=12.0, profiler=1.0)
    text = parts_text(parts)
    assert text.startswith("Of the +12.5 ms between them: +12.0 ms what the rest")
    assert text.index("+1.00 ms") < text.index("−0.500 ms")
    real = RealStep(
        implementation="eager",
        step=Ratio(value=0.5),
        kernel="torch-math",
        predicted=Ratio(value=0.9, low=0.8, high=1.0),
        agree=False,
        parts=parts,
    )
    told = real_text(real)
    assert "the step is 0.500× as fast; by the shares and torch-math, 0.900× (0.800 to 1.00)" in told


WIDE, NARROW = Ratio(value=1.1, low=0.9, high=1.3), Ratio(value=1.25, low=1.2, high=1.3)


def test_roads_that_agree_within_their_intervals_say_how_wide_these_are() -> None:
    near = RealStep(implementation="eager", step=NARROW, kernel="flash3", predicted=WIDE, agree=True)
    assert real_text(near).endswith("agree within their intervals, which are 8.00% and 36.8% wide.")
    same = replace(near, predicted=NARROW)
    assert real_text(same).endswith("agree within 5%.")


def test_an_interval_with_a_gain_and_a_loss_tells_nothing() -> None:
    unclear = RealStep(implementation="eager", step=WIDE, kernel="flash3", predicted=NARROW, cannot_tell=True)
    assert real_text(unclear).endswith("a gain and a loss of over 5%, so that they agree cannot be told.")


def test_a_kernel_is_named_without_its_template_and_its_arguments() -> None:
    names = (
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_traits<128, 64>, false>(pytorch_flash::Params)",
        "void at::native::(anonymous namespace)::softmax<float>(float*)",
        "void at::native::(anonymous namespace)::softmax<int>(int*)",
        "Memset (Device)",
    )
    call = replace(KNOWN.calls[0], kernels=names, ran="flash")
    (told,) = kernels_of([call, replace(call, layers=("text",))])
    assert told.startswith(
        "model.layers.0,2.self_attn, text: flash ran as pytorch_flash::flash_fwd_kernel, at"
    )
    many = replace(call, kernels=tuple(f"k{number}" for number in range(6)))
    assert kernels_of([many])[0].endswith("flash ran as k0, k1, k2, k3 and 2 more.")
    assert kernels_of(KNOWN.calls) == []  # on a CPU
    assert ran_text(call) == "flash (pytorch_flash::flash_fwd_kernel)"
    assert kernels_text(call) == ["pytorch_flash::flash_fwd_kernel", "at::native::softmax", "Memset"]


def test_a_gpu_that_waits_is_told_where_there_is_one() -> None:
    (found,) = switchings_of(KNOWN, [])
    assert "GPU" not in step_text(found)
    assert step_text(replace(found, busy=0.4)).endswith("; the GPU works 40.0% of the time")
    waits = StepParts(in_place=0.5, rest=0.0, profiler=0.0, idle=2.0)
    told = parts_text(waits)
    assert told.startswith("Of the +2.50 ms between them: +2.00 ms what the GPU waits longer for the CPU")
    assert [f"{ms} ms" in told for ms in ("+0.500", "+0.00")] == [True, False]


def test_an_implementation_that_was_refused_is_told_with_its_reason() -> None:
    told = RealStep(implementation="sdpa", refused="It has none.")
    assert real_text(told) == "sdpa: cannot be put in place: It has none."


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Ratio(value=1.01, low=1.0, high=1.02), "the gain vanishes end to end"),
        (Ratio(value=1.2, low=0.9, high=1.3), "cannot be told from the noise"),
    ],
)
def test_a_gain_that_is_none_end_to_end_is_said_so(step: Ratio, text: str) -> None:
    found = Switching(
        phase="decode",
        step_ms=1.0,
        share=0.1,
        overhead=1.0,
        calls=(),
        amdahl=(Amdahl(kernel="flash2", covered=1, calls=1, ratio=1.5, step=step),),
        real=(),
        vanishes="flash2",
    )
    assert text in vanishing_text(found)
    assert not vanishing_text(replace(found, vanishes=""))
