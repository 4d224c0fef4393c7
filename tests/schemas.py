"""Writes the JSON schemas anew, after a quantity, a choice or a field has come: `python -m tests.schemas`."""

import json

from flashscope.profiles.claims import document as claims
from flashscope.profiles.results.compare import document as comparison
from flashscope.profiles.results.formats import schema as session

WRITTEN = {
    session.SCHEMA: session.session_schema,
    comparison.SCHEMA: comparison.comparison_schema,
    claims.SCHEMA: claims.claims_schema,
}


if __name__ == "__main__":
    for path, schema in WRITTEN.items():
        path.write_text(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
