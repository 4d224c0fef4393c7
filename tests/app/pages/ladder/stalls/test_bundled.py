"""The stalls that come with the program: of these kernels' sources as far as these are still the same."""

import pytest

from flashscope.app.control.bundled import stalls_recording
from flashscope.app.figures.stall_bars import sampled_lines
from flashscope.app.figures.stall_source import source_like
from flashscope.profiles.results.model.stall_facts import StallFacts
from flashscope.profiles.store import load

KERNELS = {"flash2", "flash3-a", "flash3-b", "flash3-c", "flash3"}


def test_every_step_was_sampled_and_the_file_is_small() -> None:
    path = stalls_recording()
    assert path is not None
    assert path.stat().st_size < 1 << 20
    session = load(path)
    assert session.altered == ""
    assert {one.request.kernel for one in session.stalls} == KERNELS
    assert all(row.status == "done" for row in session.points)


def test_samples_are_of_one_warp_of_each_sm_as_the_documentation_says() -> None:
    """At more warps of an SM, or in every launch, the clock would be far below that of an H100."""
    path = stalls_recording()
    assert path is not None
    session = load(path)
    device = session.machine.device("cuda")
    assert device is not None
    assert device.multiprocessors is not None
    for profile in session.stalls:
        cycles = StallFacts.of(profile).total * profile.interval / device.multiprocessors
        assert 1.3 < cycles / profile.sampled_ns < 1.98, "GHz, which an H100 reaches"


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_a_profile_has_lines_of_its_source_and_products_of_its_kernel(kernel: str) -> None:
    path = stalls_recording()
    assert path is not None
    profile = next(one for one in load(path).stalls if one.request.kernel == kernel)
    facts = StallFacts.of(profile)
    assert facts.total > 10_000
    assert 0 < facts.issued < 1
    assert 0.8 < facts.sampled < 1.2, "sampling hardly disturbs the launch"
    products = "HMMA" if kernel == "flash2" else "HGMMA"
    assert any(one.startswith(products) for one in profile.text)
    source = source_like(kernel, profile.request.problem, profile.source)
    if source is None:
        pytest.skip("the source has changed since: record it anew by python -m tests.stall_session")
    last = len(source.text.splitlines())
    assert max(facts.lines) <= last
    lined = sum(sum(samples.values()) for samples in facts.lines.values())
    assert lined > 0.95 * facts.total
    assert len(sampled_lines(profile, lined=True).code) == len(profile.text)
