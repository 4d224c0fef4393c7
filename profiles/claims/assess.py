"""Puts one claim to the test; an experiment that breaks is a claim that could not be tested."""

from flashscope.profiles.claims.lab import BrokenOffError, Lab
from flashscope.profiles.claims.model import Claim, ClaimResult, untested


def assess(claim: Claim, lab: Lab) -> ClaimResult:
    """What came of it."""
    try:
        return claim.trial.run(lab)
    except BrokenOffError as error:
        return untested(str(error))
    except Exception as error:  # noqa: BLE001 - the round goes on, whatever an experiment raises
        return untested(f"the experiment broke: {error or type(error).__name__}")
