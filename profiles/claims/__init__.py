"""What the documents claim, measured: every checkable number with an experiment, and what came of it."""

from flashscope.profiles.claims.documents import CLAIMS, DOCUMENTS
from flashscope.profiles.claims.lab import Lab
from flashscope.profiles.claims.model import CLAIM_VERDICTS, Claim, ClaimResult, ClaimSource, ClaimVerdict

__all__ = [
    "CLAIMS",
    "CLAIM_VERDICTS",
    "DOCUMENTS",
    "Claim",
    "ClaimResult",
    "ClaimSource",
    "ClaimVerdict",
    "Lab",
]
