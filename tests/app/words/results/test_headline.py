"""What the sentence over the plots says, word for word."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.words.results.headline import (
    LOSSES,
    ON_A_CPU,
    UNCHECKED,
    brief_text,
    factor_text,
    headline_text,
    needs_recording,
    note_text,
    ratio_words,
)
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.results.findings.headline import (
    Clause,
    Doubted,
    Headline,
    HeadlineVerdict,
    Loss,
    Lost,
)
from flashscope.profiles.results.findings.spared import Spared
from flashscope.profiles.results.quantities.registry import FOOTPRINT, QUANTITIES, RUNTIME

FASTER = Clause(RUNTIME, 10.0, 27.0, "better")
SMALLER = Clause(FOOTPRINT, 2.0**20, 255 * 2.0**20, "better")
WHOLE = Headline("flash2", "standard", 32768, "cuda", (FASTER, SMALLER), Lost(65536, "will-not-fit"))


def said(*clauses: Clause, backend: Backend = "cuda", lost: Lost | None = None) -> str:
    return headline_text(Headline("flash2", "standard", 2048, backend, clauses, lost))


def test_the_whole_sentence() -> None:
    assert headline_text(WHOLE) == (
        "flash2 is 2.7× faster than standard and takes 255× less memory at N = 32k; "
        "standard will not fit at 64k."
    )


def test_what_is_won_and_what_is_lost_are_joined_by_but() -> None:
    slower = Clause(RUNTIME, 13.0, 10.0, "worse")
    assert said(slower, SMALLER).startswith("flash2 is 1.3× slower than standard but takes 255× less memory")
    assert said(slower, Clause(FOOTPRINT, 2.0, 1.0, "worse")).startswith(
        "flash2 is 1.3× slower than standard and takes 2.0× more memory"
    )


def test_a_tie_is_said_to_be_one() -> None:
    tie = Clause(RUNTIME, 1.0, 1.004, "same")
    assert said(tie, SMALLER) == (
        "flash2 is as fast as standard, within the noise, and takes 255× less memory at N = 2k."
    )
    assert "as much memory" in said(FASTER, Clause(FOOTPRINT, 1.0, 1.0, "same"))


def test_what_is_sure_is_said_where_runtimes_are_not() -> None:
    tie = Clause(RUNTIME, 1.0, 1.004, "same")
    assert said(SMALLER, tie) == (
        "flash2 takes 255× less memory than standard and is as fast, within the noise, at N = 2k."
    )
    untimed = Headline("flash2", "standard", 2048, "cpu", (SMALLER,), timed=False)
    assert headline_text(untimed) == (
        "flash2 takes 255× less memory than standard at N = 2k; its runtime cannot be trusted."
    )
    assert note_text(untimed) == ON_A_CPU
    doubted = dataclasses.replace(untimed, backend="cuda", doubts=(Doubted("flash2", "only 2 samples"),))
    assert note_text(doubted) == "The runtime of flash2 is doubtful: only 2 samples."
    assert said(SMALLER, Clause(RUNTIME, 48.0), lost=Lost(2048, "doubtful")) == (
        "flash2 takes 255× less memory than standard and runs in 48.0 ms at N = 2k, "
        "where standard has a doubtful runtime."
    )


def test_the_first_thing_in_a_few_words_is_that_of_its_quantity() -> None:
    assert ratio_words(dataclasses.replace(WHOLE, clauses=(SMALLER,))) == (
        "flash2: takes 255× less memory at 32k"
    )
    alike = Clause(FOOTPRINT, 1.0, 1.0, "same")
    assert ratio_words(dataclasses.replace(WHOLE, clauses=(alike,))) == "flash2: takes as much memory at 32k"
    tie = Clause(RUNTIME, 1.0, 1.0, "same")
    assert ratio_words(dataclasses.replace(WHOLE, clauses=(tie,))) == "flash2: as fast at 32k"


def test_a_difference_that_no_digit_shows_is_none() -> None:
    assert "takes as much memory" in said(FASTER, Clause(FOOTPRINT, 1000.0, 1001.0, "better"))


def test_a_little_more_or_less_memory_is_about_as_much() -> None:
    slower = Clause(RUNTIME, 1.03, 1.0, "worse")
    about, less = "about as much memory", "1.06× less memory"
    for value, told in ((99, about), (97, about), (94, less)):
        text = said(slower, Clause(FOOTPRINT, value, 100, "better"))
        joined = "but takes" if told == less else "and takes"
        assert text == f"flash2 is 1.03× slower than standard {joined} {told} at N = 2k."


def test_of_several_problems_the_sentence_says_which() -> None:
    told = dataclasses.replace(WHOLE, label="d 64, no mask")
    assert headline_text(told).startswith("d 64, no mask: flash2 is ")


def test_what_no_digit_shows_is_set_against_nothing() -> None:
    slower = Clause(RUNTIME, 13.0, 10.0, "worse")
    assert said(slower, Clause(FOOTPRINT, 1000.0, 1001.0, "better")).startswith(
        "flash2 is 1.3× slower than standard and takes as much memory"
    )


def test_without_a_baseline_the_figures_stand_alone() -> None:
    alone = Headline(
        "flash2",
        "standard",
        65536,
        "cuda",
        (Clause(RUNTIME, 48.0), Clause(FOOTPRINT, 516 * 2.0**20)),
        Lost(65536, "will-not-fit"),
    )
    assert headline_text(alone) == (
        "flash2 runs in 48.0 ms and takes 516 MiB of memory at N = 64k, where standard will not fit."
    )


def test_where_nothing_counts_it_says_so() -> None:
    none = Headline("", "standard", 65536, "cuda", lost=Lost(65536, "oom"))
    assert headline_text(none) == "No runtime can be trusted at N = 64k; standard ran out of memory."
    assert not headline_text(None)


def test_another_quantity_is_said_by_its_title() -> None:
    energy = Clause(QUANTITIES["energy_mj"], 1.0, 3.0, "better")
    assert said(energy) == "flash2 has 3.0× lower energy per call than standard at N = 2k."
    traffic = Clause(QUANTITIES["dram_bytes"], 2.0**20, 2.0**23)
    assert said(traffic) == "flash2 has DRAM traffic 1.05 MB (standard: 8.39 MB) at N = 2k."
    cached = Clause(QUANTITIES["l2_bytes"], 1.0, 3.0, "better")
    assert said(cached) == "flash2 has 3.0× lower L2 traffic than standard at N = 2k."


@pytest.mark.parametrize("why", LOSSES)
def test_it_will_not_fit_only_where_the_file_says_so(why: Loss) -> None:
    assert ("will not fit" in said(FASTER, lost=Lost(2048, why))) == (why == "will-not-fit")


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (1.05, "1.05×"),
        (1.194, "1.19×"),
        (1.2, "1.2×"),
        (2.74, "2.7×"),
        (9.96, "10×"),
        (255.4, "255×"),
        (1234.5, "1,234×"),
    ],
)
def test_ratios_have_few_digits(factor: float, text: str) -> None:
    assert factor_text(factor) == text


@pytest.mark.parametrize("verdict", ["worse", "same", "better"])
def test_a_cpu_is_explained_whatever_its_times_say(verdict: HeadlineVerdict) -> None:
    told = Headline("flash2", "standard", 512, "cpu", (Clause(RUNTIME, 2.0, 1.5, verdict),))
    assert needs_recording(told)
    assert note_text(told) == ON_A_CPU
    assert not needs_recording(dataclasses.replace(told, backend="cuda"))


def test_a_cpu_whose_runtimes_cannot_be_trusted_is_explained_too() -> None:
    assert note_text(Headline("", "standard", 512, "cpu", lost=Lost(512, "doubtful"))) == ON_A_CPU


def test_on_a_cpu_memory_comes_first_then_what_its_own_rates_say_of_the_times() -> None:
    told = Headline("flash2", "standard", 1024, "cpu", spared=Spared(16 * 2**20, 0.35, 4.48))
    assert note_text(told) == (
        "standard holds 16.0 MiB of S and P (N × N), flash2 none. "
        "That saves 0.350 ms of memory traffic on this CPU, beside 4.48 ms of products."
    )
    unmeasured = dataclasses.replace(told, spared=Spared(16 * 2**20))
    assert note_text(unmeasured) == f"standard holds 16.0 MiB of S and P (N × N), flash2 none. {ON_A_CPU}"


def test_an_output_that_was_not_compared_is_said_to_be_so() -> None:
    assert note_text(WHOLE) == ""
    assert note_text(dataclasses.replace(WHOLE, checked=False)) == UNCHECKED
    slower = Headline("flash2", "standard", 512, "cpu", (Clause(RUNTIME, 2.0, 1.5, "worse"),), checked=False)
    assert note_text(slower) == f"{UNCHECKED} {ON_A_CPU}"


def test_a_list_of_sessions_has_the_first_ratio() -> None:
    assert ratio_words(WHOLE) == "flash2: 2.7× faster at 32k"
    tie = dataclasses.replace(WHOLE, clauses=(Clause(RUNTIME, 1.0, 1.0, "same"),))
    assert ratio_words(tie) == "flash2: as fast at 32k"
    assert not ratio_words(dataclasses.replace(WHOLE, clauses=(Clause(RUNTIME, 1.0),)))


VALUES = st.floats(1e-6, 1e12)
CLAUSES = st.builds(
    Clause, st.sampled_from([one for one in QUANTITIES.values() if one.better]), VALUES, VALUES
).flatmap(
    lambda one: st.sampled_from(
        [
            one,
            dataclasses.replace(one, base=None),
            *(dataclasses.replace(one, verdict=v) for v in ("better", "worse", "same")),
        ]
    )
)


@given(
    st.lists(CLAUSES, min_size=1, max_size=2), st.sampled_from([None, *LOSSES]), st.sampled_from([1024, 4096])
)
def test_any_sentence_is_one_line_with_few_digits(clauses: list[Clause], why: Loss | None, n: int) -> None:
    lost = None if why is None else Lost(n, why)
    text = headline_text(Headline("flash2", "standard", 1024, "cuda", tuple(clauses), lost))
    assert text.startswith("flash2 ")
    assert text.endswith(".")
    assert "\n" not in text
    assert "  " not in text
    for factor in re.findall(r"([\d,.]+)×", text):
        digits = re.sub(r"\D", "", factor).lstrip("0")
        assert len(digits) <= 3 or float(factor.replace(",", "")) >= 1000


def test_from_afar_a_long_note_is_left_out_but_not_that_nothing_was_checked() -> None:
    doubts = tuple(Doubted(name, "spread of 36.8% between the quartiles") for name in ("flash2", "standard"))
    doubted = dataclasses.replace(WHOLE, doubts=doubts)
    assert note_text(doubted).count("is doubtful") == 2
    assert brief_text(doubted) == headline_text(doubted)
    unchecked = dataclasses.replace(doubted, checked=False)
    assert brief_text(unchecked) == f"{headline_text(unchecked)} {UNCHECKED}"
    on_a_cpu = dataclasses.replace(WHOLE, backend="cpu")
    assert brief_text(on_a_cpu) == f"{headline_text(on_a_cpu)} {note_text(on_a_cpu)}"
    assert brief_text(None) == ""
