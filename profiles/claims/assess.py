"""Puts one claim to the test; an experiment that breaks is a claim that could not be tested."""

from kernels.errors import KernelError
from profiles.claims.lab import Lab
from profiles.claims.model import Claim, Finding, untested
from profiles.store import SessionFileError

BREAKS = (ArithmeticError, LookupError, TypeError, ValueError, OSError, MemoryError, RuntimeError)


def assess(claim: Claim, lab: Lab) -> Finding:
    """What came of it."""
    try:
        return claim.trial.run(lab)
    except (*BREAKS, KernelError, SessionFileError) as error:
        return untested(f"the experiment broke: {error or type(error).__name__}")
