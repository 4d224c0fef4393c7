"""The claims: each is tested by something that runs, and the wrong ones are shown to be wrong."""

from pathlib import Path

import pytest

from kernels.registry import KERNELS
from profiles.claims import CLAIMS, DOCUMENTS, VERDICTS, Claim, Lab
from profiles.claims.assess import assess
from profiles.claims.lab import SHEET_TFLOPS
from profiles.claims.model import NO_SOURCE, Trial, found
from profiles.claims.trials.arithmetic import Printed, number, size
from tests.profiles.claims.conftest import IN_TORCH, Findings

NOWHERE = Lab(Path("nowhere"))
HERE = [claim for claim in CLAIMS if claim.key != IN_TORCH]


def test_every_claim_has_a_name_of_its_own_and_stands_in_a_document() -> None:
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)
    numbers = [one.number for one in DOCUMENTS]
    assert [*dict.fromkeys(claim.document for claim in CLAIMS)] == numbers
    for number_of in numbers:
        lines = [claim.lines for claim in CLAIMS if claim.document == number_of]
        assert lines == sorted(lines)
        assert all(line == tuple(sorted(line)) and line[0] > 0 for line in lines)


@pytest.mark.parametrize("claim", HERE, ids=lambda claim: claim.key)
def test_every_experiment_comes_to_a_verdict_with_what_was_measured_and_where(
    claim: Claim, findings: Findings
) -> None:
    finding = findings[claim.key]
    assert finding.verdict in VERDICTS
    assert finding.measured
    assert "broke" not in finding.measured
    assert claim.says.endswith(".")
    assert claim.trial.words.endswith((".", "?"))
    assert (finding.source == NO_SOURCE) is (finding.verdict == "cannot be tested")


WRONG = {
    "002-24": "could not be broadcast",  # shapes that do not fit
    "003-420": "4.83 GB, S of one head, as in line 47, 0.0168 GB",  # the table against its own page
    "004-121": "the sum is 1.0936",  # online_softmax_demo
    "004-253": "49,152",  # 96 KB in 16 bits
    "004-334": "the peak is 312",  # FA2's throughput
    "000-124": "right to",  # version 1's backward pass
    "000-61b": "could not be broadcast",
    "004-231b": "512",
    "004-748": "1.01",
}


@pytest.mark.parametrize("key", WRONG)
def test_what_is_wrong_is_shown_to_be_wrong_by_running_it(key: str, findings: Findings) -> None:
    assert findings[key].verdict == "does not hold"
    assert WRONG[key] in findings[key].measured


def test_the_two_documents_disagree_on_version_1s_backward_and_one_is_right(findings: Findings) -> None:
    assert findings["003-271"].verdict == "holds"
    assert findings["000-124"].verdict == "does not hold"


def test_what_is_known_to_be_right_holds(findings: Findings) -> None:
    for key in ("001-700", "002-7", "003-180b", "004-242", "001-213b", "000-25"):
        assert findings[key].verdict == "holds", key


def test_without_recordings_what_needs_a_gpu_cannot_be_tested_and_nothing_breaks() -> None:
    of_gpus = {
        claim.key: assess(claim, NOWHERE) for claim in CLAIMS if claim.key in {"000-9", "000-13", "004-257"}
    }
    assert {one.verdict for one in of_gpus.values()} == {"cannot be tested"}
    assert len(of_gpus) == 3


def test_an_experiment_that_breaks_tests_nothing_and_says_why() -> None:
    def breaks(_lab: Lab) -> object:
        raise ZeroDivisionError("by nothing")

    claim = Claim("000", (1,), "It breaks.", Trial("Break.", breaks))  # type: ignore[arg-type]
    finding = assess(claim, NOWHERE)
    assert (finding.verdict, finding.measured) == ("cannot be tested", "the experiment broke: by nothing")


@pytest.mark.parametrize(
    ("printed", "value", "agrees"),
    [
        ("1.07", 1.0737, True),
        ("1.07", 1.0995, False),
        ("6144", 49152, False),
        ("16", 16.0, True),
        ("0.450", 0.44996, True),
    ],
)
def test_a_number_agrees_to_the_digits_that_are_printed(printed: str, value: float, agrees: bool) -> None:
    assert Printed.of(printed).agrees(value) is agrees
    assert (number(printed, lambda: value, "x").run(NOWHERE).verdict == "holds") is agrees


def test_bytes_may_be_meant_in_powers_of_1000_or_of_1024() -> None:
    verdicts = [size("67 MB", lambda n=n: n, "x").run(NOWHERE).verdict for n in (67.1e6, 67 << 20, 72e6)]  # type: ignore[misc]
    assert verdicts == ["holds", "holds", "does not hold"]


def test_what_is_made_once_is_made_once() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    lab = Lab(Path("nowhere"))
    assert (lab.once(make), lab.once(make), made) == (1, 1, [1])


def test_the_peak_is_the_data_sheets_where_the_gpu_is_known() -> None:
    from app.control.bundled import BUNDLED  # noqa: PLC0415

    peak = Lab(BUNDLED).peak
    assert peak is not None
    assert peak.tflops == SHEET_TFLOPS
    assert NOWHERE.peak is None


def test_linformer_is_called_approximate_everywhere_and_is_no_kernel(findings: Findings) -> None:
    low_rank = [claim.key for claim in HERE if "Linformer" in claim.says]
    assert len(low_rank) == 4
    for key in low_rank:
        assert findings[key].measured.startswith("approximate"), key
    assert not any("linformer" in spec.name for spec in KERNELS)
    assert found(holds=True, measured="", source="").verdict == "holds"


@pytest.mark.parametrize("key", ["002-89", "004-80", "004-304"])
def test_where_a_range_is_our_own_choice_the_experiment_says_so(key: str) -> None:
    words = next(claim.trial.words for claim in CLAIMS if claim.key == key)
    assert "1.5 to 2.5" in words
    assert "Flashscope chose this range" in words
