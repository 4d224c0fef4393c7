"""The claims: each is tested by something that runs, and the wrong ones are shown to be wrong."""

import re
from pathlib import Path

import pytest
from msgspec import structs

from flashscope.app.control.bundled import BUNDLED
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.claims import CLAIM_VERDICTS, CLAIMS, DOCUMENTS, Claim, Lab
from flashscope.profiles.claims.assess import assess
from flashscope.profiles.claims.experiments.arithmetic import Printed, computed_number, size
from flashscope.profiles.claims.lab import SHEET_TFLOPS
from flashscope.profiles.claims.model import NO_SOURCE, Experiment, found
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import load
from tests.profiles.claims.conftest import IN_TORCH, Findings
from tests.texts.pages import table_after

PAGE = "profiles/README.md"
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
    assert finding.verdict in CLAIM_VERDICTS
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


def test_what_a_kernel_holds_is_told_in_binary_units_and_what_it_moves_in_decimal_ones(
    findings: Findings,
) -> None:
    told = [one.measured for one in findings.values()]
    held = re.compile(r"\b(?:holds|holding) [\d.,]+ (\w+)")
    units = {unit for text in told for unit in held.findall(text) if unit.endswith("B")}
    assert units == {"GiB", "MiB"}
    assert not [text for text in told if re.search(r"iB counted", text)]


def test_without_recordings_what_needs_a_gpu_cannot_be_tested_and_nothing_breaks() -> None:
    of_gpus = {
        claim.key: assess(claim, NOWHERE) for claim in CLAIMS if claim.key in {"000-9", "000-13", "004-257"}
    }
    assert {one.verdict for one in of_gpus.values()} == {"cannot be tested"}
    assert len(of_gpus) == 3


@pytest.mark.parametrize("key", ["000-23", "004-358", "004-358b", "003-66"])
def test_what_is_said_of_an_h100_is_read_from_an_h100(key: str, findings: Findings) -> None:
    assert "H100" in findings[key].source
    assert "h100-peers.flashscope" in findings[key].source
    assert "H200" not in findings[key].source


def test_nothing_is_said_to_need_a_gpu_of_which_there_is_a_recording(findings: Findings) -> None:
    assert not [key for key, one in findings.items() if "needs an H100" in one.measured]


def test_the_gpu_here_answers_for_an_h100_only_if_it_is_one() -> None:
    h100, h200 = (load(BUNDLED / f"{name}-peers.flashscope") for name in ("h100", "h200"))
    here = Lab(BUNDLED, {"h200-peers": h100}.get)
    assert here.of_h100() == (here, "h200-peers")
    other, topic = Lab(BUNDLED, {"h200-peers": h200}.get).of_h100()
    assert (other.live, topic) == (False, "h100-peers")


@pytest.mark.parametrize("error", [ZeroDivisionError, ImportError, AssertionError])
def test_an_experiment_that_breaks_tests_nothing_and_says_why(error: type[Exception]) -> None:
    def breaks(_lab: Lab) -> object:
        raise error("by nothing")

    claim = Claim("000", (1,), "It breaks.", Experiment("Break.", breaks))  # type: ignore[arg-type]
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
    assert (computed_number(printed, lambda: value, "x").run(NOWHERE).verdict == "holds") is agrees


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
    peak = Lab(BUNDLED).peak
    assert peak is not None
    assert peak.tflops == SHEET_TFLOPS
    assert NOWHERE.peak is None


@pytest.mark.parametrize(
    ("name", "multiprocessors", "known"),
    [
        ("NVIDIA GH200 480GB", 132, True),
        ("NVIDIA H100 PCIe", 114, False),
        ("NVIDIA H100 NVL", 132, False),
        ("NVIDIA H200 NVL", 132, False),
        ("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 60, False),
    ],
)
def test_a_gpu_that_is_slower_than_its_name_has_no_peak_of_the_data_sheet(
    name: str, multiprocessors: int, *, known: bool
) -> None:
    session = load(BUNDLED / "h200-peers.flashscope")
    device = session.machine.device("cuda")
    assert device is not None
    other = structs.replace(device, name=name, multiprocessors=multiprocessors)
    session.machine = structs.replace(session.machine, devices=(other,))
    peak = Lab(BUNDLED, lambda topic: session if topic == "h200-peers" else None).peak
    assert (peak is not None) is known


def test_what_crosses_the_bus_is_as_the_table_has_it_with_what_is_written_back(findings: Findings) -> None:
    rows = {row.kernel: row for row in Lab(BUNDLED).rows("h200-traffic") if row.seqlen == 8192}
    moved = {name: value_of(QUANTITIES["dram_bytes"], rows[name]) or 0 for name in ("standard", "flash2")}
    told = findings["004-257"].measured
    assert f"flash2 {moved['flash2'] / 1e9:.3f} GB: {moved['standard'] / moved['flash2']:.0f}× fewer" in told


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


ON_THIS_CPU = "001-1331b"  # timed where it runs: a busy machine may show otherwise


def test_the_page_counts_the_verdicts_as_they_come_out(findings: Findings) -> None:
    usual = {IN_TORCH: "cannot be tested", ON_THIS_CPU: "does not hold"}
    came = {claim.key: usual.get(claim.key) or findings[claim.key].verdict for claim in CLAIMS}
    told = {
        heading: [int(cell) for cell in counts]
        for heading, *counts in table_after(PAGE, "and without PyTorch:")
    }
    for document in DOCUMENTS:
        verdicts = [came[claim.key] for claim in CLAIMS if claim.document == document.number]
        counts = [
            len(verdicts),
            *(verdicts.count(one) for one in ("holds", "does not hold", "cannot be tested")),
        ]
        assert told[f"{document.number} {document.title}"] == counts
    assert told["all"] == [sum(column) for column in zip(*list(told.values())[:-1], strict=True)]
