"""Every claim put to the test once."""

import pytest

from flashscope.app.control.bundled import BUNDLED
from flashscope.profiles.claims import CLAIMS, ClaimResult, Lab
from flashscope.profiles.claims.assess import assess

IN_TORCH = "001-1331c"  # takes a process of its own

Findings = dict[str, ClaimResult]


@pytest.fixture(scope="package")
def findings() -> Findings:
    """What came of each, by the bundled recordings."""
    lab = Lab(BUNDLED)
    return {claim.key: assess(claim, lab) for claim in CLAIMS if claim.key != IN_TORCH}
