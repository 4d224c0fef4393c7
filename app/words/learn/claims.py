"""Claims and what came of them, in words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from flashscope.kernels.workload.device import Device
from flashscope.profiles.claims import (
    CLAIM_VERDICTS,
    CLAIMS,
    DOCUMENTS,
    Claim,
    ClaimResult,
    ClaimSource,
    ClaimVerdict,
)

GLYPHS: dict[ClaimVerdict, str] = {"holds": "✓", "does not hold": "×", "cannot be tested": "–"}
A_SWEEP_MEASURES = "A sweep measures, which testing would disturb: test the claims when it has ended."
BEING_TESTED = (
    "Claims are being put to the test, which a sweep would disturb: wait for the end, or stop it on the "
    "Claims page, before a sweep is run or resumed."
)
HEADINGS = ("document", "claims", *CLAIM_VERDICTS)
Found = tuple[Claim, ClaimResult]


def verdict_text(verdict: ClaimVerdict) -> str:
    """A verdict with its glyph: never by its colour alone."""
    return f"{GLYPHS[verdict]} {verdict}"


def counts(findings: Iterable[Found]) -> list[tuple[ClaimSource | None, Counter[ClaimVerdict]]]:
    """How many claims of each document hold, do not and cannot be tested; None: of all."""
    found = list(findings)
    by_document: list[tuple[ClaimSource | None, Counter[ClaimVerdict]]] = [
        (one, Counter(finding.verdict for claim, finding in found if claim.document == one.number))
        for one in DOCUMENTS
    ]
    return [*by_document, (None, Counter(finding.verdict for _, finding in found))]


def count_rows(findings: Iterable[Found]) -> list[list[str]]:
    """Counts of verdicts as rows of a table under `HEADINGS`."""
    return [
        [_named(one), *(str(n) for n in (sum(tally.values()), *(tally[v] for v in CLAIM_VERDICTS)))]
        for one, tally in counts(findings)
    ]


def claims_summary(findings: Sequence[Found]) -> str:
    """One sentence over all claims."""
    if not findings:
        return f"{len(CLAIMS)} claims of {len(DOCUMENTS)} documents; none has been put to the test yet."
    tally = Counter(finding.verdict for _, finding in findings)
    told = (
        f"Of {len(findings)} claims {tally['holds']} hold and {tally['does not hold']} do not; "
        f"{tally['cannot be tested']} cannot be tested on this machine."
    )
    left = len(CLAIMS) - len(findings)
    return f"{told} {left} are left." if left else told


RECORDED_ON = "NVIDIA H200"  # of the bundled recordings that claims are tested by


def where_text(device: Device | None) -> str:
    """Where figures of a GPU come from: the one here, or recordings."""
    if device is None:
        return "GPU figures come from the bundled recordings of an H200."
    return f"GPU figures are measured on {device.name}."


def _named(document: ClaimSource | None) -> str:
    return f"{document.number} {document.title}" if document else "all"
