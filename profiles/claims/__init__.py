"""What the documents claim, measured: every checkable number with an experiment, and what came of it."""

from profiles.claims.documents import CLAIMS, DOCUMENTS
from profiles.claims.lab import Lab
from profiles.claims.model import VERDICTS, Claim, Document, Finding, Verdict

__all__ = ["CLAIMS", "DOCUMENTS", "VERDICTS", "Claim", "Document", "Finding", "Lab", "Verdict"]
