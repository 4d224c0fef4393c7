"""The source of a stall profile is found by its digest, whatever problem a file names."""

import pytest
from msgspec.structs import replace

from flashscope.app.figures.stall_source import source_like
from tests.app.stall_profiles import profile

KNOWN = profile()
PROBLEM = KNOWN.request.problem


def test_the_source_that_is_here_is_found_and_another_is_not() -> None:
    found = source_like(KNOWN.request.kernel, PROBLEM, KNOWN.source)
    assert found is not None
    assert found.file == KNOWN.file
    assert source_like(KNOWN.request.kernel, PROBLEM, "0" * 16) is None


@pytest.mark.parametrize("numbers", [{"seqlen_q": 1 << 31}, {"heads": 1 << 31, "kv_heads": 1 << 31}])
def test_a_problem_that_no_launch_takes_has_no_source(numbers: dict[str, int]) -> None:
    assert source_like(KNOWN.request.kernel, replace(PROBLEM, **numbers), KNOWN.source) is None
