"""Machine code beside its source: that of the timed build, each instruction with its line."""

import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec import structs

from flashscope.kernels.cuda.compile import INCLUDES
from flashscope.kernels.cuda.reading.cards import CARDS, H200, GpuCard
from flashscope.kernels.cuda.reading.step import program_of, read_problem, source_of, steps_of
from flashscope.kernels.cuda.sass import listing as listing_module
from flashscope.kernels.cuda.sass.kinds import KINDS, kind_of
from flashscope.kernels.cuda.sass.listing import BuildListing, compiled_with_lines, listing_of
from flashscope.kernels.workload.errors import DeviceUnavailableError, UnsupportedError
from flashscope.kernels.workload.problem import ONE_PASS, Passes
from tests.kernels.cuda.machine_code import difference
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

SHARED = re.compile(r"\b(LDSM?|STSM?)\b")
A100 = next(card for card in CARDS if card.name == "A100")
TIMED = [
    (kernel, passes, card, head_dim)
    for passes in ONE_PASS
    for kernel in steps_of(passes)
    for card in (H200, A100)
    for head_dim in (64, 128)
    if card is H200 or not kernel.startswith("flash3")
]


@chosen("kernel,passes,card,head_dim", TIMED, ())
def test_the_machine_code_is_that_of_the_timed_build(
    kernel: str, passes: Passes, card: GpuCard, head_dim: int
) -> None:
    problem = read_problem(head_dim, causal=True, passes=passes)
    program = program_of(kernel, problem, card)
    timed, _ = compile_apart(program, card.target)
    shown, _ = compiled_with_lines(program, source_of(kernel, problem, card), card)
    assert difference(timed, shown) == ("the same", [])


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> BuildListing:
    return listing_of("flash2", read_problem(64), A100, tmp_path_factory.mktemp("sass"))


def test_a_build_says_what_it_was_compiled_for_and_what_each_kernel_takes(listing: BuildListing) -> None:
    (kernel,) = listing.kernels
    (launch,) = program_of("flash2", read_problem(64), A100).launches
    assert (listing.arch, listing.compiler.split()[0]) == ("sm_80", "NVRTC")
    assert "sm_80" in listing.source.heading
    assert (kernel.entry, kernel.threads, kernel.dynamic_shared) == ("flash2", 128, launch.shared_bytes)
    assert 0 < kernel.resources.registers <= 255
    assert (kernel.resources.spilled, kernel.resources.reloaded) == (0, 0)


def test_each_instruction_has_a_line_of_the_source_or_of_a_header(listing: BuildListing) -> None:
    texts = {listing.source.file: listing.source.text.splitlines()}
    texts |= {path.name: path.read_text(encoding="utf-8").splitlines() for path in INCLUDES.glob("*.cuh")}
    for one in listing.kernels[0].instructions:
        assert one.places
        for place in one.places:
            if place.file in texts:  # others are the compiler's own headers
                assert 0 < place.line <= len(texts[place.file])
    own = [place.file for one in listing.kernels[0].instructions for place in one.places[-1:]]
    assert Counter(own)[listing.source.file] == len(own)


def test_an_exponential_comes_from_a_line_that_asks_for_one(listing: BuildListing) -> None:
    """The line that the innermost place names is the one that has the instruction in PTX."""
    exponentials = [one for one in listing.kernels[0].instructions if "MUFU.EX2" in one.text]
    assert len(exponentials) > 32
    for one in exponentials:
        inner = one.places[0]
        path = INCLUDES / inner.file
        text = path.read_text(encoding="utf-8") if path.exists() else listing.source.text
        assert "ex2" in text.splitlines()[inner.line - 1], inner


def test_products_and_copies_are_counted_as_what_they_are(listing: BuildListing) -> None:
    counts = Counter(KINDS[kind_of(one.text)].title for one in listing.kernels[0].instructions)
    texts = [one.text for one in listing.kernels[0].instructions]
    assert counts["tensor cores"] == sum("HMMA" in text for text in texts) > 0
    assert counts["shared memory"] == sum(bool(SHARED.search(text)) for text in texts) > 0
    assert counts["TMA"] == counts["local memory"] == 0


def test_what_a_gpu_does_not_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="flash3"):
        listing_of("flash3", read_problem(64), A100, tmp_path)
    problem = structs.replace(read_problem(64), passes="backward")
    with pytest.raises(UnsupportedError, match="simt has no backward pass"):
        listing_of("simt", problem, H200, tmp_path)


@pytest.mark.matrix
def test_a_compiler_that_says_nothing_of_what_it_kept_is_told_how_to_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = read_problem(64, causal=False)
    answer = compiled_with_lines(
        program_of("flash2", problem, H200), source_of("flash2", problem, H200), H200
    )
    monkeypatch.setattr(listing_module, "compiled_with_lines", lambda *_: (answer[0], ""))
    with pytest.raises(DeviceUnavailableError, match="set CUDA_CACHE_DISABLE to 1"):
        listing_of("flash2", problem, H200, tmp_path)
