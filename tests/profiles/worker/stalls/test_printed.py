"""What ncu printed of launches on an H100, cut to some instructions and counters, and what is none of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.stalls import ISSUED
from flashscope.profiles.worker.stalls.printed import (
    DROPPED,
    DURATION,
    INTERVAL,
    METRIC,
    NOT_ISSUED,
    PASSES,
    REASONS,
    UnreadableError,
    read_counters,
    read_samples,
    read_version,
)

PRINTED = Path(__file__).parent / "printed"
SOURCE, RAW, ALONE = (
    (PRINTED / name).read_text(encoding="utf-8") for name in ("source.csv", "raw.csv", "alone.txt")
)
VERSION = "Copyright (c) 2018-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 36398880) (public-release)"


def test_a_source_page_is_a_launch_with_the_samples_of_each_instruction() -> None:
    (launch,) = read_samples(SOURCE)
    assert launch.entry == "flash3"
    assert set(launch.reasons) == set(REASONS)
    assert launch.instructions[0][:2] == (0, "LDC R1, c[0x0][0x28]")
    assert launch.instructions[3].text == "ULDC UR14, c[0x0][0x3d0]"
    third = launch.instructions[2]
    assert dict(zip(launch.reasons, third.samples, strict=True)) == {
        **dict.fromkeys(REASONS, 0),
        "imc_miss": 34,
        "not_selected": 1,
    }
    assert third.idle == 34, "one that could issue lost to another, which did"


def test_addresses_begin_with_the_first_instruction_and_the_padding_is_left_out() -> None:
    (launch,) = read_samples(SOURCE)
    addresses = [one.address for one in launch.instructions]
    assert addresses[:3] == [0, 16, 32]
    assert addresses == sorted(addresses)
    assert launch.instructions[-1].text != "NOP"
    assert '"      NOP"' in SOURCE


def test_what_is_issued_is_idle_nowhere_and_no_instruction_is_idle_more_often_than_it_was_sampled() -> None:
    (launch,) = read_samples(SOURCE)
    issued = launch.reasons.index(ISSUED)
    for one in launch.instructions:
        assert one.idle <= sum(one.samples) - one.samples[issued]
    assert launch.total == sum(sum(one.samples) for one in launch.instructions) > 0


def test_several_launches_are_told_apart() -> None:
    first, second = read_samples(SOURCE + SOURCE.replace('"flash3"', '"merge"'))
    assert (first.entry, second.entry) == ("flash3", "merge")
    assert first.instructions == second.instructions


def test_counters_are_read_by_name_without_separators_of_thousands() -> None:
    (counters,) = read_counters(RAW)
    assert (counters[INTERVAL], counters[DROPPED], counters[PASSES]) == (2048, 0, 2)
    assert counters[DURATION] == 737_408
    (alone,) = read_counters(ALONE)
    assert alone[DURATION] == 736_960
    assert INTERVAL not in alone


def test_the_version_is_that_of_ncu() -> None:
    assert read_version(VERSION) == "2025.3.1"
    assert read_version("command not found") == ""


NO_REASON = SOURCE.replace(METRIC, "smsp__other_")
BROKEN = SOURCE.replace('"34"', '"many"', 1)


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("", "no table of instructions"),
        ("==WARNING== No kernels were profiled.\n", "no table of instructions"),
        (NO_REASON, "no column has samples of a reason"),
        (BROKEN, "instruction 3 is"),
        (SOURCE.replace('"0x7f03ef7b1110"', '"somewhere"'), "instruction 2 is"),
    ],
)
def test_another_page_is_refused_with_what_it_lacks(printed: str, told: str) -> None:
    with pytest.raises(UnreadableError, match=told):
        read_samples(printed)


def test_a_page_without_counters_is_refused() -> None:
    for printed in ("", SOURCE, "\n".join(RAW.splitlines()[:2])):
        with pytest.raises(UnreadableError, match="no table of counters"):
            read_counters(printed)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=20),
    st.text("abcXYZ=#- ", max_size=20),
)
def test_every_sample_that_is_printed_is_read_whatever_stands_around_it(
    counts: list[tuple[int, int]], noise: str
) -> None:
    head = f'"Address","Source","{METRIC}wait","{METRIC}wait{NOT_ISSUED}","{METRIC}barrier"'
    rows = [
        f'"{0x7F0000 + 16 * at:#x}","   MOV R1, R{at}","{wait:,}","{wait // 2}","{barrier}"'
        for at, (wait, barrier) in enumerate(counts)
    ]
    printed = "\n".join([noise, '"Kernel Name","flash2",', head, *rows, noise])
    (launch,) = read_samples(printed)
    assert [one.samples for one in launch.instructions] == counts
    assert [one.idle for one in launch.instructions] == [wait // 2 for wait, _ in counts]
    assert launch.total == sum(map(sum, counts))
