"""The JSON document: one schema, held by its structs and kept beside them."""

import json

import msgspec
import pytest

from profiles.results.compare import compare
from profiles.results.compare.document import SCHEMA, Document, document, schema
from profiles.results.compare.regressions import regressions
from profiles.results.quantities import QUANTITIES
from tests.profiles.results.compare.built import rounds, session

BASE = session({("flash2", 512): rounds(1.0), ("flash3", 512): rounds(1.0), ("flash1", 512): rounds(1.0)})
OTHER = session({("flash2", 512): rounds(1.1), ("flash3", 512): "wrong"}, machine={"driver": "590"})


def test_the_schema_beside_the_code_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


@pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)
def test_every_document_is_as_the_schema_says(quantity: object) -> None:
    comparison = compare(BASE, [OTHER, BASE], QUANTITIES[getattr(quantity, "key")])  # noqa: B009 - typed so
    made = document(comparison, "ms", ["a", None, "b"], regressions(comparison, 0.05))
    assert msgspec.json.decode(msgspec.json.encode(made), type=Document) == made


def test_the_document_says_what_was_found() -> None:
    made = msgspec.to_builtins(document(compare(BASE, [OTHER]), "ms", ["a", "b"]))
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
    assert regressions(comparison, 0.05)[1:] == (1, 1, 1)
    assert regressions(comparison, 0.2)[1:] == (0, 1, 1)
    assert not regressions(compare(BASE, [BASE]), 0).any
    back = regressions(compare(OTHER, [BASE]), 0.05)
    assert not back.any
