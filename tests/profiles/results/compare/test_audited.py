"""Audits of models in two sessions beside each other."""

import dataclasses
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from flashscope.app.words.learn.audit_changes import CHANGE_HEADINGS, audit_sentences, change_cells
from flashscope.kernels.workload.audit import AuditedCall, ModelAudit
from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.compare.audited import AuditContrast, audit_contrast
from flashscope.profiles.results.compare.document import ComparisonDocument, comparison_document
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load

SESSIONS = Path(__file__).parents[4] / "assets" / "sessions"


@pytest.fixture(scope="module")
def session() -> Session:
    """Of a model with two kinds of layers, in three steps."""
    return load(SESSIONS / "cpu-audit-gemma2.flashscope")


def beside(session: Session, **fields: object) -> Session:
    """A session whose audit differs in these fields."""
    return dataclasses.replace(session, audits=[replace(session.audits[0], **fields)])


def contrast(base: Session, other: Session) -> AuditContrast:
    found = audit_contrast(base, other)
    assert found is not None
    return found


def slower(call: AuditedCall, times: float) -> AuditedCall:
    return replace(call, took_ms=tuple(times * ms for ms in call.took_ms), ran="flash")


def steady(audit: ModelAudit) -> tuple[AuditedCall, ...]:
    """Its calls, as if each round had taken about the same."""
    return tuple(replace(one, took_ms=tuple(10 + 0.1 * k for k in range(5))) for one in audit.calls)


def lines(found: AuditContrast) -> list[dict[str, str]]:
    return [dict(zip(CHANGE_HEADINGS, change_cells(one), strict=True)) for one in found.lines]


def test_each_kind_of_layers_all_of_them_and_the_whole_step_have_a_line(session: Session) -> None:
    found = [(one["step"], one["layers"]) for one in lines(contrast(session, session))]
    assert found[:5] == [
        ("prefill", "model.layers.0,2.self_attn"),
        ("prefill", "model.layers.1,3.self_attn"),
        ("prefill", "all of these"),
        ("prefill", "whole step, eager"),
        ("prefill", "whole step, scope-fa2"),
    ]
    assert [step for step, _ in found[::5]] == ["prefill", "decode", "training"]


def test_layers_that_take_longer_say_how_much_and_what_ran(session: Session) -> None:
    first, *others = steady(session.audits[0])
    base = beside(session, calls=(first, *others))
    other = beside(session, calls=(slower(first, 2), *others))
    found = contrast(base, other)
    line, same, both, *_ = lines(found)
    assert (line["ran"], line["ratio"], line["verdict"]) == ("math → flash", "2.000", "slower")
    assert line["baseline"].startswith("10.2 ms, ")
    low, high = map(float, line["95% interval"].split(" – "))
    assert 1.9 < low <= 2 <= high < 2.1
    assert (same["ran"], same["ratio"], same["verdict"]) == ("math", "1.000", "inconclusive")
    assert (both["ran"], both["ratio"]) == ("math → flash, math", "1.500")
    (sentence,) = audit_sentences(found)
    assert sentence == (
        "gemma2: attention takes 1.50× as long in prefill; no sure change in decode and training; in prefill "
        "math ran in the baseline, flash and math here; in decode and training math ran in both."
    )


def test_whole_steps_of_one_implementation_are_compared(session: Session) -> None:
    step = session.audits[0].steps[0]
    faster = replace(step, step_ms=tuple(ms / 100 for ms in step.step_ms))
    found = contrast(session, beside(session, steps=(faster, *session.audits[0].steps[1:])))
    changed = {one.implementation: one.faster for one in found.steps if one.phase == "prefill"}
    assert changed == {"eager": True, "scope-fa2": None}


def test_kinds_that_one_session_tells_apart_are_compared_together(session: Session) -> None:
    first, second, *others = steady(session.audits[0])
    merged = replace(first, layers=(*first.layers, *second.layers), took_ms=(10.0, 10.1, 10.2, 10.3, 10.4))
    found = contrast(
        beside(session, calls=(first, second, *others)), beside(session, calls=(merged, *others))
    )
    line = lines(found)[0]
    assert line["layers"] == "model.layers.0-3.self_attn"
    assert (line["ratio"], line["verdict"]) == ("0.500", "faster")


def test_other_layers_are_not_compared(session: Session) -> None:
    first, *others = steady(session.audits[0])
    shorter = replace(first, layers=first.layers[:1])
    found = contrast(beside(session, calls=(first, *others)), beside(session, calls=(shorter, *others)))
    assert (lines(found)[0]["ratio"], lines(found)[0]["verdict"]) == ("–", "not compared")
    assert "not the same layers in prefill" in audit_sentences(found)[0]


def test_audits_that_are_not_of_the_same_work_say_what_differs(session: Session) -> None:
    other = beside(session, parameters=12_345, inputs={"input_ids": (2, 256)})
    parameters = session.audits[0].parameters
    assert audit_sentences(contrast(session, other))[1] == (
        f"gemma2 is not the same work in both: parameters {parameters:,} → 12,345; "
        "inputs input_ids 1×256 → input_ids 2×256."
    )


def test_other_models_are_named_and_not_compared(session: Session) -> None:
    found = contrast(session, beside(session, model="llama3"))
    assert found.lines == ()
    assert audit_sentences(found) == [
        "The models differ: gemma2 is audited in the baseline only, llama3 here only."
    ]
    alone = contrast(session, dataclasses.replace(session, audits=[]))
    assert audit_sentences(alone) == ["gemma2 is audited in the baseline only."]


def test_sessions_without_audits_say_nothing_of_them(session: Session) -> None:
    without = dataclasses.replace(session, audits=[])
    assert audit_contrast(without, without) is None


def test_the_json_document_has_every_line_of_the_table_with_its_figures(session: Session) -> None:
    audit = session.audits[0]
    other = beside(session, calls=tuple(slower(one, 2.0) for one in steady(audit)), dtype="bfloat16")
    base = beside(session, calls=steady(audit))
    made = comparison_document(compare(base, [other]), "ms", [[None], [None]])
    assert msgspec.json.decode(msgspec.json.encode(made), type=ComparisonDocument) == made
    audits = msgspec.to_builtins(made.comparisons[0].audits)
    table = lines(contrast(base, other))
    assert [(one["model"], one["step"]) for one in audits["changes"]] == [
        (one["model"], one["step"]) for one in table
    ]
    first = audits["changes"][0]
    assert (first["ratio"], first["faster"]) == (pytest.approx(2.0), False)
    assert (first["base"]["median_ms"], first["other"]["median_ms"]) == (
        pytest.approx(10.2),
        pytest.approx(20.4),
    )
    assert first["other"]["ran"] == ("flash",)
    assert audits["changes"][3]["implementation"] == "eager"
    assert [(one["key"], one["other"]) for one in audits["unlike"]] == [("dtype", "bfloat16")]


def test_the_json_document_says_null_where_no_model_is_audited(session: Session) -> None:
    bare = dataclasses.replace(session, audits=[])
    made = comparison_document(compare(bare, [bare]), "ms", [[None], [None]])
    assert made.comparisons[0].audits is None
