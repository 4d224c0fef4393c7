"""A sweep of ragged lengths whose keys lie in pages: timed, judged, accounted for to the byte."""

import pytest

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.request import Request
from tests.profiles.heard import QUICK, Heard, done

KERNELS = ("standard", "fused", "flash1", "flash2")


@pytest.fixture(scope="module")
def swept() -> Heard:
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    problem = Request.of("cpu", batch=3, lengths="spread", page_size=32).problem(128)
    try:
        heard.sweep(Plan(backend="cpu", kernels=KERNELS, problems=(problem,), protocol=QUICK))
    finally:
        heard.engine.close()
    return heard


def test_every_kernel_is_timed_and_judged_on_the_rows_that_there_are(swept: Heard) -> None:
    for point in swept.session().points[: len(KERNELS)]:
        found = done(point)
        assert found.correctness is not None
        assert found.correctness.passed
        assert found.correctness.rows == 2 * (43 + 86 + 128)
        assert [one.output for one in found.correctness.outputs] == ["O", "LSE", "O of a row", "LSE of a row"]
        assert found.samples


def test_what_is_held_is_what_was_predicted(swept: Heard) -> None:
    for point in swept.session().points[: len(KERNELS)]:
        assert done(point).held_bytes == point.predicted_bytes
