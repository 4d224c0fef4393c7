"""All findings as one JSON document. The structs are its schema: `claims.schema.json` is made of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from profiles.claims.documents import DOCUMENTS
from profiles.claims.model import Claim, Finding, Verdict

SCHEMA = Path(__file__).with_name("claims.schema.json")


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every object of the document."""


class SourceSaid(Said, frozen=True, kw_only=True):
    """One of the texts, which are not part of this program."""

    number: str
    title: str


class ClaimSaid(Said, frozen=True, kw_only=True):
    """One claim in our words with the lines where it stands, its experiment, and what came of it.

    `measured` is the reason where it cannot be tested.
    """

    key: str
    document: str
    lines: tuple[int, ...]
    claim: str
    experiment: str
    verdict: Verdict
    measured: str
    source: str


class Document(Said, frozen=True, kw_only=True):
    """The whole; `device` is the GPU that measured here, null where the bundled recordings stand in."""

    format: Literal[1] = 1
    device: str | None
    documents: tuple[SourceSaid, ...]
    claims: tuple[ClaimSaid, ...]


def document(findings: Sequence[tuple[Claim, Finding]], device: str | None) -> Document:
    """The findings as a document."""
    return Document(
        device=device,
        documents=tuple(SourceSaid(number=one.number, title=one.title) for one in DOCUMENTS),
        claims=tuple(_said(claim, finding) for claim, finding in findings),
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claims",
        **msgspec.json.schema(Document),
    }


def _said(claim: Claim, finding: Finding) -> ClaimSaid:
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
