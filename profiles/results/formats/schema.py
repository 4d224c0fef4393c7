"""The JSON schema of `to_json`'s document; `session.schema.json` is made of it, and tests hold both."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import DTYPES, PASSES, Backend, Problem
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.audits import AuditDocument
from flashscope.profiles.results.formats.json_groups import CLOCKS, COUNTED, ENERGY, FORMULAS, LEDGER
from flashscope.profiles.results.formats.landscapes import LandscapeDocument
from flashscope.profiles.results.formats.ranks import RanksDocument
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
    "softcap": NUMBER,
    "sinks": {"type": "boolean"},
    "alibi": {"type": "boolean"},
    "head_dim_v": {"type": ["integer", "null"]},
    "altered": {"type": ["boolean", "null"]},
    "part": {"type": ["integer", "null"], "minimum": 1},
    "measured_on": {"type": ["integer", "null"], "minimum": 0},
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


class _Known(NamedTuple):
    """The schemas of structs."""

    machine: JsonSchema
    plan: JsonSchema
    device: JsonSchema
    figure: JsonSchema
    attempt: JsonSchema
    bookmark: JsonSchema
    why: JsonSchema
    ceiling: JsonSchema
    spent: JsonSchema
    problem: JsonSchema
    landscape: JsonSchema
    audit: JsonSchema
    ranks: JsonSchema


STRUCTS = (  # as in `_Known`
    *(Machine, Plan, Device, Figure, Attempt, Bookmark, Why, Ceiling, Spent, Problem),
    LandscapeDocument,
    AuditDocument,
    RanksDocument,
)


def session_schema() -> JsonSchema:
    """The schema: every key that there is, each required; a missing figure is null."""
    made, defined = msgspec.json.schema_components(STRUCTS, ref_template="#/$defs/{name}")
    known = _Known(*made)
    document = {
        "session": _all_of(_session(known)),
        "points": _many(_point(known)),
        "ceilings": _many(_ceilings(known)),
        "drift": _many(DRIFT),
        "parts": _many(_part(known)),
        "efficiency": _all_of(_efficiency(known)),
        "landscapes": {"type": "array", "items": known.landscape},
        "audits": {"type": "array", "items": known.audit},
        "ranks": {"type": "array", "items": known.ranks},
    }
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Flashscope session, as `show --json` prints it",
        **_all_of(document),
        "$defs": defined,
    }
    return msgspec.convert(msgspec.json.decode(msgspec.json.encode(whole)), JsonSchema)  # defaults are tuples


def _session(known: _Known) -> dict[str, JsonSchema]:
    return {
        **dict.fromkeys(("id", "name", "note", "started_at", "altered", "provenance"), TEXT),
        "tags": TEXTS,
        "bookmarks": {"type": "array", "items": known.bookmark},
        "file": {"type": ["string", "null"]},
        "outcome": OUTCOME,
        "backend": POINT["backend"],
        "device": _or_null(known.device),
        "machine": known.machine,
        "plan": known.plan,
        **dict.fromkeys(("readings", "traces", "backward_traces", "timelines", "stall_profiles"), COUNT),
        "baseline": {"type": ["string", "null"]},
        "devices": _many(
            {
                "part": {"type": "integer", "minimum": 1},
                "number": COUNT,
                "device": _or_null(known.device),
                "system": TEXT,
                "driver": {"type": ["string", "null"]},
            }
        ),
    }


def _point(known: _Known) -> dict[str, JsonSchema]:
    def group(keys: Iterable[str]) -> JsonSchema:
        return _all_of(dict.fromkeys(keys, known.figure))

    figures = {name: NUMBER for quantity in QUANTITIES.values() for name in quantity.names}
    tiers = {"formula": FORMULAS, "counters": COUNTED, "ncu": tuple(BY_NCU)}
    return {
        **POINT,
        **figures,
        "figures": _each(known.figure),
        "ledger": group(LEDGER),
        "traffic": _all_of({tier: group(keys) for tier, keys in tiers.items()}),
        "energy": group(ENERGY),
        "clocks": group(CLOCKS),
        "rejected": _all_of({"samples": known.figure, "reasons": _each(COUNT)}),
        "why": _or_null(known.why),
    }


def _ceilings(known: _Known) -> dict[str, JsonSchema]:
    return {
        "part": {"type": "integer", "minimum": 1},
        "rates": _each(known.ceiling),
        "cache_bytes": {"type": ["integer", "null"]},
        "core_cache_bytes": {"type": ["integer", "null"]},
        "took_ms": NUMBER,
    }


def _part(known: _Known) -> dict[str, JsonSchema]:
    return {
        "number": {"type": "integer", "minimum": 1},
        **dict.fromkeys(("started_at", "version"), TEXT),
        "machine": known.machine,
        "outcome": OUTCOME,
        "points": COUNT,
        "differences": TEXTS,
        "warnings": TEXTS,
        "drifts": _many(DRIFT),
        "again": {"type": "array", "items": known.attempt},
    }


def _efficiency(known: _Known) -> dict[str, JsonSchema]:
    return {
        "share": NUMBER,
        "missing": TEXT,
        "spent": _or_null(known.spent),
        "by_problem": _many({"problem": known.problem, "share": NUMBER, "spent": known.spent}),
    }


def _or_null(schema: JsonSchema) -> JsonSchema:
    return {"anyOf": [schema, {"type": "null"}]}


def _each(schema: JsonSchema) -> JsonSchema:
    """An object of any keys with values of this kind."""
    return {"type": "object", "additionalProperties": schema}


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
