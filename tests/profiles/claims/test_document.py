"""The JSON document of all findings: one schema, held by its structs and kept beside them."""

import json

import jsonschema
import msgspec

from flashscope.profiles.claims import CLAIMS
from flashscope.profiles.claims.document import SCHEMA, claims_document, claims_schema
from tests.profiles.claims.conftest import Findings


def test_the_schema_beside_the_code_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == claims_schema()


def test_every_finding_is_as_the_schema_says(findings: Findings) -> None:
    told = [(claim, findings[claim.key]) for claim in CLAIMS if claim.key in findings]
    made = msgspec.to_builtins(claims_document(told, None))
    jsonschema.validate(json.loads(json.dumps(made)), claims_schema())
    assert [one["key"] for one in made["claims"]] == [claim.key for claim, _ in told]
    assert len(made["documents"]) == 5
