"""`main.py claims` as a process of its own."""

import json

import jsonschema
import pytest

from flashscope.profiles.claims.document import SCHEMA
from tests.end_to_end import program


@pytest.fixture(scope="module")
def document() -> object:
    done = program.run("claims", "--json")
    assert done.returncode == 0, done.stderr
    return program.document(done)


@pytest.mark.matrix
def test_the_document_is_as_its_schema_says_and_names_what_is_wrong(document: dict[str, object]) -> None:
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    claims = {one["key"]: one for one in document["claims"]}  # type: ignore[attr-defined]
    assert claims["004-121"]["verdict"] == "does not hold"
    assert "1.0936" in claims["004-121"]["measured"]
    assert claims["004-253"]["verdict"] == "does not hold"
    assert claims["001-700"]["verdict"] == "holds"
