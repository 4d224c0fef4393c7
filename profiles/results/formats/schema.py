"""The JSON schema of `to_json`'s document; `session.schema.json` is made of it, and tests hold both."""

from pathlib import Path
from typing import Any, get_args

import msgspec

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import DTYPES, PASSES, Backend, Problem
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.json_groups import CLOCKS, COUNTED, ENERGY, FORMULAS, LEDGER
from flashscope.profiles.results.model.bookmarks import Bookmark
from flashscope.profiles.results.model.efficiency import Spent
from flashscope.profiles.results.model.trust import WORDS
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.results.theory.why import Why
from flashscope.profiles.wire.ceilings import Ceiling
from flashscope.profiles.wire.events import Attempt, Outcome, PointStatus
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.traffic import BY_NCU

SCHEMA = Path(__file__).with_name("session.schema.json")
JsonSchema = dict[str, Any]
TEXT: JsonSchema = {"type": "string"}
TEXTS: JsonSchema = {"type": "array", "items": TEXT}
NUMBER: JsonSchema = {"type": ["number", "null"]}
COUNT: JsonSchema = {"type": "integer", "minimum": 0}
LENGTHS: JsonSchema = {"type": ["array", "null"], "items": COUNT}
POINT: dict[str, JsonSchema] = {
    "kernel": TEXT,
    "backend": {"enum": list(get_args(Backend))},
    **dict.fromkeys(("seqlen", "seqlen_k", "batch", "heads", "head_dim", "kv_heads"), COUNT),
    "dtype": {"enum": list(DTYPES)},
    "causal": {"type": "boolean"},
    "status": {"enum": list(get_args(PointStatus))},
    "reason": TEXT,
    "cold": {"type": ["boolean", "null"]},
    "note": TEXT,
    "window": {"type": ["array", "null"], "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    "block_mask": TEXT,
    "pass": {"enum": list(PASSES)},
    "deterministic": {"type": "boolean"},
    "query_lengths": LENGTHS,
    "key_lengths": LENGTHS,
    "page_size": {"type": ["integer", "null"]},
    "altered": {"type": ["boolean", "null"]},
    "part": {"type": ["integer", "null"], "minimum": 1},
    "bookmark": {"type": ["string", "null"]},
    "trust": {"enum": [*WORDS, None]},
    "trust_reasons": TEXT,
}
OUTCOME: JsonSchema = {"enum": [*get_args(Outcome), None]}
DRIFT: dict[str, JsonSchema] = {
    "kernel": TEXT,
    "seqlen": COUNT,
    **{key: {"type": "number"} for key in ("first_ms", "last_ms", "noise", "ratio")},
    "beyond_noise": {"type": "boolean"},
}


def session_schema() -> JsonSchema:
    """The schema: every key that there is, each required; a missing figure is null."""
    structs = Machine, Plan, Device, Figure, Attempt, Bookmark, Why, Ceiling, Spent, Problem
    made = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    (machine, plan, device, figure, attempt, bookmark, why, ceiling, spent, problem), defined = made
    session: dict[str, JsonSchema] = {
        **dict.fromkeys(("id", "name", "note", "started_at", "altered", "provenance"), TEXT),
        "tags": {"type": "array", "items": TEXT},
        "bookmarks": {"type": "array", "items": bookmark},
        "file": {"type": ["string", "null"]},
        "outcome": OUTCOME,
        "backend": POINT["backend"],
        "device": {"anyOf": [device, {"type": "null"}]},
        "machine": machine,
        "plan": plan,
        "readings": COUNT,
        "traces": COUNT,
        "timelines": COUNT,
        "baseline": {"type": ["string", "null"]},
    }
    figures = {name: NUMBER for quantity in QUANTITIES.values() for name in quantity.names}
    point = POINT | figures | {"figures": {"type": "object", "additionalProperties": figure}}
    reasons: JsonSchema = {"type": "object", "additionalProperties": COUNT}
    tiers = {"formula": FORMULAS, "counters": COUNTED, "ncu": tuple(BY_NCU)}
    point |= {
        "ledger": _all_of(dict.fromkeys(LEDGER, figure)),
        "traffic": _all_of({tier: _all_of(dict.fromkeys(keys, figure)) for tier, keys in tiers.items()}),
        "energy": _all_of(dict.fromkeys(ENERGY, figure)),
        "clocks": _all_of(dict.fromkeys(CLOCKS, figure)),
        "rejected": _all_of({"samples": figure, "reasons": reasons}),
    }
    point["why"] = {"anyOf": [why, {"type": "null"}]}
    ceilings: dict[str, JsonSchema] = {
        "part": {"type": "integer", "minimum": 1},
        "rates": {"type": "object", "additionalProperties": ceiling},
        "cache_bytes": {"type": ["integer", "null"]},
        "took_ms": NUMBER,
    }
    part: dict[str, JsonSchema] = {
        "number": {"type": "integer", "minimum": 1},
        **dict.fromkeys(("started_at", "version"), TEXT),
        "machine": machine,
        "outcome": OUTCOME,
        "points": COUNT,
        "differences": TEXTS,
        "warnings": TEXTS,
        "drifts": _many(DRIFT),
        "again": {"type": "array", "items": attempt},
    }
    at_problem: dict[str, JsonSchema] = {"problem": problem, "share": NUMBER, "spent": spent}
    efficiency: dict[str, JsonSchema] = {
        "share": NUMBER,
        "missing": TEXT,
        "spent": {"anyOf": [spent, {"type": "null"}]},
        "by_problem": _many(at_problem),
    }
    document = {
        "session": _all_of(session),
        "points": _many(point),
        "ceilings": _many(ceilings),
        "drift": _many(DRIFT),
        "parts": _many(part),
        "efficiency": _all_of(efficiency),
    }
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Flashscope session, as `show --json` prints it",
        **_all_of(document),
        "$defs": defined,
    }
    return msgspec.convert(msgspec.json.decode(msgspec.json.encode(whole)), JsonSchema)  # defaults are tuples


def _all_of(properties: dict[str, JsonSchema]) -> JsonSchema:
    """An object with all of these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _many(properties: dict[str, JsonSchema]) -> JsonSchema:
    return {"type": "array", "items": _all_of(properties)}
