"""The figures on the pages about measuring and planning are those of the recordings and of the code."""

import re
from collections import Counter

import pytest

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.words.units import energy_text
from flashscope.kernels.catalogue import fused
from flashscope.kernels.cuda.program import HOPPER, SHARED_MEMORY_LIMITS
from flashscope.kernels.cuda.reading.step import read_problem
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import preset_plan
from flashscope.profiles.results.model.limits import ALLOWED, limit_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.measurement import BY_POWER
from flashscope.profiles.wire.traffic import BY_NCU
from tests.end_to_end import program
from tests.texts.figures import Ratios, measured, points_of, ratios, session_of
from tests.texts.pages import says, sentences, table_after, text

PROFILES, OF_KERNELS, OF_APP = "profiles/README.md", "kernels/README.md", "app/README.md"


def held_back(row: PointRow) -> bool:
    """Whether the power limit held the clock back in half of the samples or more."""
    return row.trust is not None and any("software power cap" in reason for reason in row.trust.reasons)


def test_the_words_for_trust_are_counted_in_all_bundled_recordings() -> None:
    points = measured()
    words = Counter(row.trust.word for row in points if row.trust)
    held = Counter(row.trust.word for row in points if row.trust and held_back(row))
    says(
        PROFILES,
        f"{len(points):,} measured points {words['solid']:,} are solid, {words['fair']} fair and "
        f"{words['doubtful']} doubtful",
        f"The power limit held {held['fair']} of the fair ones back",
    )
    assert "solid" not in held
    left = [
        row.trust.reasons for row in points if row.trust and row.trust.word == "fair" and not held_back(row)
    ]
    noisy = [reasons for reasons in left if any(one.startswith(("spread", "two groups")) for one in reasons)]
    assert len(noisy) > len(left) / 2


def test_points_that_the_power_limit_held_back_are_counted_in_the_recordings() -> None:
    forward, backward = (
        [row for row in points_of(name) if row.trust] for name in ("h200-peers", "h200-backward")
    )
    says(
        OF_KERNELS,
        f"in {sum(map(held_back, forward))} of the {len(forward)} forward points and in "
        f"{sum(map(held_back, backward))} of the {len(backward)} backward ones",
    )


def test_energies_are_the_recordings() -> None:
    kernels = ("standard", "flash2", "flash3")
    at = {(row.seqlen, row.kernel): row for row in points_of("h200-traffic")}
    power, off = [], []
    for n, *told in table_after(PROFILES, "h200-traffic.flashscope"):
        length = int(n.replace(",", ""))
        figures = [at[length, kernel].measured("energy_mj") for kernel in kernels]
        assert told == [energy_text(one.value or 0) for one in figures if one]
        off += [
            (one.high - one.low) / 2 / one.value
            for one in figures
            if one and one.high and one.low and one.value
        ]
        power += [one.value or 0 for kernel in kernels if (one := at[length, kernel].measured("power_w"))]
    assert len(off) == len(power) == 9
    says(
        PROFILES, f"was {min(power):.0f} to {max(power):.0f} W, and the counter's steps leave each energy ±3%"
    )
    assert max(off) < 0.03


def test_energies_beside_power_times_time_are_the_recordings() -> None:
    pairs = [
        (ours, theirs.value or 0)
        for row in points_of("h200-traffic")
        if (ours := row.measured("energy_mj")) and (theirs := row.measured(BY_POWER))
    ]
    over = [(ours.value or 0) / theirs for ours, theirs in pairs]
    outside = sum(not (ours.low or 0) <= theirs <= (ours.high or 0) for ours, theirs in pairs)
    says(
        PROFILES,
        f"over the {len(pairs)} points of that file it is {min(over):.2f} to {max(over):.2f} times",
        f"outside the ends in {outside}",
    )


def test_figures_beside_other_instruments_are_the_recordings() -> None:
    theirs = {"footprint": "peak_bytes", **BY_NCU, "energy_mj": BY_POWER}
    at = {(row.kernel, row.seqlen): row for row in points_of("h200-traffic")}
    for kernel, *told in table_after(PROFILES, "nvbench's figures are in no file"):
        columns = {"footprint": told[0], "dram_bytes": told[1], "l2_bytes": told[2], "energy_mj": told[4]}
        for what, cell in columns.items():
            rows = [at[kernel, n] for n in (4096, 8192, 16_384)]
            over = [value_of(QUANTITIES[what], row) / row.measured(theirs[what]).value for row in rows]  # type: ignore[operator,union-attr]
            if what == "footprint":  # to the rounding of the allocator
                assert cell == "1, 1, 1", kernel
                assert over == pytest.approx([1.0] * 3, abs=1e-4), kernel
            else:
                assert cell == ", ".join(f"{one:.3f}" for one in over), (kernel, what)


def test_the_speed_up_that_claims_are_judged_by_is_the_recordings() -> None:
    every = ratios("h200-peers", "flash2", ["standard"])
    judged = Ratios({p: r for p, r in every.by_problem.items() if _is_judged(p)})
    says(PROFILES, f"`flash2` is {judged.mean:.2f}× as fast as `standard` on those, {every.mean:.2f}× on all")


def _is_judged(problem: Problem) -> bool:
    """Without a mask, at head dims 64 and 128 and N from 2k on, as the documents have them."""
    return not problem.causal and problem.head_dim in {64, 128} and problem.seqlen >= 2048


def test_a_row_of_fused_ends_where_the_page_says() -> None:
    longest = fused.longest(read_problem(64), SHARED_MEMORY_LIMITS[HOPPER])
    says(OF_KERNELS, f"({longest:,} at head dim 64 on an H200)")


def test_there_are_as_many_problems_as_the_page_says() -> None:
    counts = {
        name: len(preset_plan(name, "cuda", Protocol()).problems) for name in ("decode", "thin", "peers")
    }
    says(
        OF_KERNELS,
        f"`--preset decode` has {counts['decode']} problems",
        f"`--preset thin` has {counts['thin']} problems",
    )
    says(OF_KERNELS, f"in turns over {counts['peers']} problems")


def test_the_planners_example_prints_what_the_page_shows() -> None:
    (command,) = re.findall(r"^\$ python main\.py (plan .*)$", text(OF_APP), re.MULTILINE)
    done = program.run(*command.split())
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stdout.splitlines()[0].split()) in sentences(OF_APP)


def test_kernels_pass_the_ceilings_by_as_much_as_the_page_says() -> None:
    passed = []
    for path in bundled_sessions():
        session = session_of(path.stem)
        for row in points_of(path.stem):
            known = session.ceilings.get(row.part or 1)
            if row.done and row.times and row.measurement and known:
                limit = limit_of(row.kernel, row.problem, row.backend, row.measurement, known)
                passed += [limit.ms * ALLOWED / row.times.median] if limit else []
    says(PROFILES, f"pass it by up to {100 * (max(passed) - 1):.0f}%")
    assert max(passed) < ALLOWED
