"""Puts one claim to the test; an experiment that breaks is a claim that could not be tested."""

from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.claims.lab import Lab
from flashscope.profiles.claims.model import Claim, ClaimResult, untested
from flashscope.profiles.store import SessionFileError

BREAKS = (ArithmeticError, LookupError, TypeError, ValueError, OSError, MemoryError, RuntimeError)


def assess(claim: Claim, lab: Lab) -> ClaimResult:
    """What came of it."""
    try:
        return claim.trial.run(lab)
    except (*BREAKS, KernelError, SessionFileError) as error:
        return untested(f"the experiment broke: {error or type(error).__name__}")
