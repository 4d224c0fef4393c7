"""What the words on screen mean is told once, and found by a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.statuses import STATUS_MARKS, TRUST_MARKS
from flashscope.app.words.glossary import GLOSSARY, found, line_of, with_line
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.results.quantities.registry import QUANTITIES

ON_SCREEN = """
drift; drift check; in turns; shuffle N; sustained; held back; peers; library peers; variants; fused;
simt; slides’ β; slides' beta; flash1 order; flash2 order; footprint; trust; solid; fair; doubtful;
impossible; LSE; SM; HBM; L2; DRAM; compulsory DRAM; tile IO; copy rate; roofline; ceilings; head dim;
heads; kv heads; GQA; MQA; causal; window; block mask; mask; cold; warm; cache; repeats; samples;
whisker; quartiles; oom; will not fit; altered; wrong; timeout; unsupported; clock; host time; SM clock;
ladder; walkthrough; dry run; sequence lengths; N; problem; kernels; counters; replay; preset; baseline;
verdict; ratio; 95% interval; telemetry; reading; session; sweep; point; m; ℓ; α; S; P; O; online
softmax; tile; trace; TFLOP/s; GiB; power cap; throttled; busy; model; ringed; context; weights; longest
context; bound by; deterministic; pass; dtype; batch; query rows; lengths; pages; cap / point; verify
against float64; speed-up; efficiency; layers; latent; parameters; bytes / weight; memory; held at once;
in all; fits; protocol; mask; keys before; block; tile rows Br; tile columns Bc;
stop; story; claim; geometric mean; changed by the clock alone; card; kernel source; core's cache; last cache;
tile counter; running O; PV tile; exact ledger; by model; memories; KV cache; warm-up; Break; Freeze;
autosaved; NVML; exponentials; Follow; Broken; Predict; fault; First wrong tile; Distance of O so far; Own
problem; Own scores; Attention sink; logits; one-hot; barrier; accumulators; Measure; Inside; Library;
Curves; Traffic; Why?; Roofline & Why; Source; Compare; Over time; Planner; LIVE; SAVED; pairs; without a
partner; here; heat map; Join; Resume; ratio to the baseline; float32; float64; float16; bfloat16; token;
forward; backward; spread; FLOP; GB/s; TB/s; CUDA; CuPy; launch; thread block; warpgroup; GPM; Perfetto;
Designer; cut; occupancy; waves; spilled; shipped; shipped cut; reserved; fragments; producer; TMA; MUFU
"""


def test_the_words_on_screen_are_in_the_glossary() -> None:
    words = [" ".join(word.split()) for word in ON_SCREEN.split(";")]
    assert [word for word in words if not line_of(word)] == []


def test_every_status_and_word_of_trust_is_in_the_glossary() -> None:
    for mark in (*STATUS_MARKS.values(), *TRUST_MARKS.values()):
        assert line_of(mark.word), mark.word


def test_quantities_and_kernels_say_in_the_glossary_what_they_say_elsewhere() -> None:
    assert all(line_of(quantity.title) == quantity.about for quantity in QUANTITIES.values())
    assert all(spec.idea[1:] in line_of(spec.name) for spec in KERNELS)


def test_a_term_is_told_in_one_sentence_or_two_that_end_in_a_full_stop() -> None:
    for term in GLOSSARY:
        assert term.line.endswith("."), term
        assert "\n" not in term.line
        assert len(term.line) < 170, term


def test_no_two_terms_have_one_name() -> None:
    names = [term.name.casefold() for term in GLOSSARY]
    assert len(names) == len(set(names))


def test_what_is_no_term_has_no_line_and_leaves_a_tip_as_it_is() -> None:
    assert line_of("from-a-file") == ""
    assert with_line("from-a-file", "Click it") == "Click it"
    assert with_line("flash1 order", "Click it").splitlines()[1:] == ["Click it"]


def test_the_first_loop_order_is_told_apart_from_the_library() -> None:
    assert line_of("flash1 order").startswith(
        "FlashAttention's first loop order, written for this app: not the library."
    )


@pytest.mark.parametrize(
    ("query", "first"), [("drift", "drift"), ("sm", "SM"), ("LS", "LSE"), ("beta", "slides’ β")]
)
def test_the_term_of_a_query_comes_before_those_that_speak_of_it(query: str, first: str) -> None:
    assert found(query)[0].name == first


def test_nothing_is_found_where_nothing_is() -> None:
    assert found("zzz") == []


@given(st.text(max_size=4))
def test_what_is_found_has_the_query_in_it(query: str) -> None:
    wanted = query.casefold().strip()
    for term in found(query):
        assert any(wanted in text.casefold() for text in (term.name, term.line, *term.also))
