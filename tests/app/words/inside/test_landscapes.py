"""Landscapes in words: how far the shipped cut is from the fastest, and from which source they are."""

from msgspec.structs import replace

from flashscope.app.words.inside.landscapes import (
    badge_words,
    landscape_names,
    landscape_sentence,
    landscape_title,
    source_words,
)
from flashscope.kernels.catalogue.sources import source_digest
from tests.profiles.store.builders import landscape

KNOWN = landscape()


def test_the_sentence_counts_cuts_and_says_how_far_the_shipped_one_is() -> None:
    told = landscape_sentence(KNOWN)
    assert told.startswith("3 of 4 cuts timed, 1 refused. Fastest on fresh rounds: 32 × 16, 1.10 ms; ")
    assert "the shipped 16 × 16 takes 1.91× as long (" in told


def test_a_landscape_without_fresh_rounds_counts_alone() -> None:
    cells = tuple(replace(cell, anew_ms=()) for cell in KNOWN.cells)
    assert landscape_sentence(replace(KNOWN, cells=cells)) == "3 of 4 cuts timed, 1 refused."


def test_it_is_named_by_kernel_problem_rows_and_device_and_those_alike_are_numbered() -> None:
    assert landscape_title(KNOWN) == "flash2 in NumPy: 1 head of 16, N = 64, no mask, float32"
    name = "flash2 in NumPy, d = 16, N = 64, no mask, by rows, Br · A CPU"
    assert landscape_names([KNOWN]) == [name]
    other = replace(KNOWN, problem=replace(KNOWN.problem, causal=True))
    assert landscape_names([KNOWN, other, KNOWN]) == [
        f"{name} (1)",
        name.replace("no mask", "causal"),
        f"{name} (2)",
    ]


def test_another_version_of_the_source_is_named_so_and_this_one_is_not() -> None:
    assert source_words(KNOWN) == "A CPU · source 0123456789ab, another version · a test"
    assert badge_words(KNOWN) == "cuts of flash2 in NumPy, source 0123456789ab, another version"
    here = replace(KNOWN, build=source_digest("cpu", "flash2") or "")
    assert "another version" not in badge_words(here) + source_words(here)
