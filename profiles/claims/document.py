"""All findings as one JSON document. The structs are its schema: `claims.schema.json` is made of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from flashscope.profiles.claims.documents import DOCUMENTS
from flashscope.profiles.claims.model import Claim, ClaimResult, ClaimVerdict

SCHEMA = Path(__file__).with_name("claims.schema.json")


class ClaimsSaid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every object of the document."""


class SourceSaid(ClaimsSaid, frozen=True, kw_only=True):
    """One of the texts, which are not part of this program."""

    number: str
    title: str


class ClaimSaid(ClaimsSaid, frozen=True, kw_only=True):
    """One claim in our words with the lines where it stands, its experiment, and what came of it.

    `measured` is the reason where it cannot be tested.
    """

    key: str
    document: str
    lines: tuple[int, ...]
    claim: str
    experiment: str
    verdict: ClaimVerdict
    measured: str
    source: str


class ClaimsDocument(ClaimsSaid, frozen=True, kw_only=True):
    """The whole; `device` is the GPU that measured here, null where the bundled recordings stand in."""

    format: Literal[1] = 1
    device: str | None
    documents: tuple[SourceSaid, ...]
    claims: tuple[ClaimSaid, ...]


def claims_document(findings: Sequence[tuple[Claim, ClaimResult]], device: str | None) -> ClaimsDocument:
    """The findings as a document."""
    return ClaimsDocument(
        device=device,
        documents=tuple(SourceSaid(number=one.number, title=one.title) for one in DOCUMENTS),
        claims=tuple(_said(claim, finding) for claim, finding in findings),
    )


def claims_schema() -> dict[str, Any]:
    """The JSON schema of a document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claims",
        **msgspec.json.schema(ClaimsDocument),
    }


def _said(claim: Claim, finding: ClaimResult) -> ClaimSaid:
    return ClaimSaid(
        key=claim.key,
        document=claim.document,
        lines=claim.lines,
        claim=claim.says,
        experiment=claim.trial.words,
        verdict=finding.verdict,
        measured=finding.measured,
        source=finding.source,
    )
