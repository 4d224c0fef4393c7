"""The JSON document: one schema, held by its structs and kept beside them."""

import json

import msgspec
import pytest

from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.compare.document import (
    SCHEMA,
    ComparisonDocument,
    comparison_document,
    comparison_schema,
)
from flashscope.profiles.results.compare.regressions import regressions
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES
from tests.profiles.results.compare.built import rounds, session, with_workspace

CELL = ("flash2", 512)

BASE = session({("flash2", 512): rounds(1.0), ("flash3", 512): rounds(1.0), ("flash1", 512): rounds(1.0)})
OTHER = session({("flash2", 512): rounds(1.1), ("flash3", 512): "wrong"}, machine={"driver": "590"})


def test_the_schema_beside_the_code_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == comparison_schema()


@pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)
def test_every_document_is_as_the_schema_says(quantity: object) -> None:
    comparison = compare(BASE, [OTHER, BASE], QUANTITIES[getattr(quantity, "key")])  # noqa: B009 - typed so
    made = comparison_document(comparison, "ms", [["a"], [None], ["b"]], regressions(comparison, 0.05))
    assert msgspec.json.decode(msgspec.json.encode(made), type=ComparisonDocument) == made


def test_the_document_says_what_was_found() -> None:
    made = msgspec.to_builtins(comparison_document(compare(BASE, [OTHER]), "ms", [["a"], ["b"]]))
    (only,) = made["comparisons"]
    slower, wrong = only["pairs"]
    assert slower["verdict"] == "slower"
    assert slower["ratio_low"] <= slower["ratio"] <= slower["ratio_high"]
    assert (slower["base"], slower["other"]) == (pytest.approx(1.0), pytest.approx(1.1))
    assert (wrong["verdict"], wrong["ratio"], wrong["reason"]) == (None, None, "was done, now wrong")
    assert [lone["kernel"] for lone in only["base_only"]] == ["flash1"]
    assert [one["key"] for one in only["circumstances"]] == ["driver"]
    assert made["regressions"] is None


def test_regressions_are_what_is_worse_by_so_much_and_what_broke_or_is_gone() -> None:
    comparison = compare(BASE, [OTHER])
    assert regressions(comparison, 0.05)[1:4] == (1, 1, 1)
    assert regressions(comparison, 0.2)[1:4] == (0, 1, 1)
    assert not regressions(compare(BASE, [BASE]), 0).found
    back = regressions(compare(OTHER, [BASE]), 0.05)
    assert not back.found


@pytest.mark.parametrize("share", [0.01, 0.03, 0.07, 0.15, 0.29, 0.57, 1.15])
def test_worse_by_exactly_the_limit_is_a_regression(share: float) -> None:
    base, other = (with_workspace(session({CELL: rounds(1.0)}), held) for held in (1000, 1000 * (1 + share)))
    comparison = compare(base, [other], QUANTITIES["workspace_bytes"])
    assert regressions(comparison, share).worse == 1
    assert not regressions(comparison, share + 1e-6).found


def test_what_was_0_and_is_more_is_worse_by_any_limit() -> None:
    base, other = (with_workspace(session({CELL: rounds(1.0)}), held) for held in (0, 4096))
    assert regressions(compare(base, [other], QUANTITIES["workspace_bytes"]), 1000.0).worse == 1


@pytest.mark.parametrize(
    ("base", "quantity"),
    [(session({CELL: "failed"}), "runtime"), (session({CELL: rounds(1.0)}), "sustained_ms")],
    ids=["nothing done", "no figures"],
)
def test_a_session_of_which_nothing_can_be_judged_passes_no_check(base: Session, quantity: str) -> None:
    found = regressions(compare(base, [base], QUANTITIES[quantity]), 0.05)
    assert (found.unjudged, found.found) == (1, True)


def test_pairs_that_say_nothing_sure_are_counted_and_fail_nothing() -> None:
    base = session({CELL: rounds(1.0), ("flash3", 512): rounds(1.0)})
    other = session({CELL: rounds(1.0, count=3), ("flash3", 512): rounds(1.0)})
    found = regressions(compare(base, [other]), 0.05)
    assert (found.inconclusive, found.found) == (1, False)
