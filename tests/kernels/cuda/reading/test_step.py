"""What is printed of a step is what the compiler makes the step of: the same machine code comes of it."""

import itertools
from dataclasses import replace

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.cuda.reading.cards import H200
from flashscope.kernels.cuda.reading.step import (
    BEFORE,
    program_of,
    source_of,
    step_before,
    steps_of,
    text_of,
)
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import ONE_PASS, Passes, Problem
from tests.kernels.cuda.compiled import cubin_of
from tests.kernels.cuda.cubin import code_of
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen, matrix

FLASH3 = ("flash3-a", "flash3-b", "flash3-c", "flash3")
SWITCHES = (
    *("OVERLAP", "PINGPONG", "SCHEDULE", "EARLY", "SPARSE", "SPLIT", "PACKED"),
    *("RAGGED", "PAGE_SIZE"),
)


def workload(head_dim: int = 128, *, causal: bool = True, dtype: str = "bfloat16") -> Problem:
    shape = {"batch": 4, "heads": 16, "seqlen_q": 4096, "seqlen_k": 4096}
    return Problem(**shape, head_dim=head_dim, causal=causal, dtype=dtype)  # type: ignore[arg-type]


def statements_of(text: str) -> str:
    """Without comments and defines."""
    lines = (line.partition("//")[0] for line in text.splitlines() if not line.startswith("#define"))
    return "\n".join(lines)


def compiled(program: Program, text: str) -> dict[str, bytes]:
    """The machine code of a text that has its defines in it."""
    return code_of(cubin_of(replace(program, defines={}), H200.target, text))


def as_it_runs(program: Program) -> dict[str, bytes]:
    return code_of(compile_apart(program, H200.target)[0])


@matrix(
    "kernel passes head_dim causal",
    [
        (kernel, passes, head_dim, causal)
        for passes in ONE_PASS
        for kernel in steps_of(passes)
        for head_dim, causal in itertools.product((64, 128, 256), (False, True))
    ],
    "kernel passes",
    few=1,
)
def test_what_is_printed_compiles_by_itself_to_the_same_machine_code(
    kernel: str, passes: Passes, head_dim: int, causal: bool
) -> None:
    program = program_of(kernel, structs.replace(workload(head_dim, causal=causal), passes=passes))
    expected = as_it_runs(program)
    assert compiled(program, text_of(program)) == expected


@chosen("kernel", ["flash2", "flash3"], ())
def test_so_it_does_under_a_window_and_a_block_mask(kernel: str) -> None:
    blocks = BlockMask.random(4096, 4096, block_q=128, block_k=128, kept_share=0.5)
    masked = structs.replace(workload(64, causal=False), window=(256, 64), block_mask=blocks)
    program = program_of(kernel, masked)
    expected = as_it_runs(program)
    assert compiled(program, text_of(program)) == expected


@pytest.mark.matrix
def test_a_line_that_is_left_out_by_mistake_would_be_noticed() -> None:
    """The comparison above is one: other text makes other machine code."""
    program = program_of("flash1", workload(64))
    printed = text_of(program)
    altered = printed.replace("if (scale < 0.0f)", "if (scale < 1.0f)")
    assert altered != printed
    codes = [compiled(program, text) for text in (printed, altered)]
    assert codes[0] != codes[1]


@pytest.mark.parametrize("kernel", FLASH3)
def test_no_switch_is_left_in_a_step_of_flash3(kernel: str) -> None:
    code = statements_of(source_of(kernel, workload()).text)
    assert "#if" not in code
    assert "CLOCK" not in code
    assert not [name for name in SWITCHES if name in code.replace("Q_STAGES", "")]


def test_a_step_has_its_own_idea_and_not_the_next_ones() -> None:
    a, b, c, whole = (statements_of(source_of(kernel, workload()).text) for kernel in FLASH3)
    assert ["wgmma_wait<1>" in text for text in (a, b, c, whole)] == [False, True, True, True]
    assert ["named_sync" in text for text in (a, b, c, whole)] == [False, True, True, True]
    assert ["take_place(" in text for text in (a, b, c, whole)] == [False, False, True, True]
    assert ["state.moved" in text for text in (a, b, c, whole)] == [False, False, False, True]


def test_the_heading_says_what_it_was_compiled_for() -> None:
    found = source_of("flash3-b", workload(128))
    assert found.heading == (
        "flash3-b: kernels/cuda/flash3.cu as compiled for sm_90a, head dim 128, bfloat16, causal"
    )
    assert found.text.startswith("#define DTYPE_bfloat16 1\n")
    backward = source_of("flash2", structs.replace(workload(64, causal=False), passes="backward"))
    assert backward.heading == (
        "flash2: kernels/cuda/flash2_backward.cu as compiled for sm_90, head dim 64, bfloat16, backward, "
        "no mask"
    )


def test_a_predecessor_is_a_kernel_of_the_ladder_and_none_goes_round() -> None:
    names = [spec.name for spec in LADDER]
    for kernel, before in BEFORE.items():
        assert names.index(before) < names.index(kernel)
    assert [step_before(kernel, "backward") for kernel in steps_of("backward")] == [
        *("", "standard", "flash1", "flash2")
    ]
    assert [step_before(kernel, "forward") for kernel in names] == [
        BEFORE.get(kernel, "") for kernel in names
    ]


def test_what_has_no_source_is_refused_with_what_has_and_the_reason_is_told() -> None:
    with pytest.raises(InputError, match=r"there are standard, .*flash3-b"):
        source_of("torch-flash", workload())
    with pytest.raises(UnsupportedError, match="float32"):
        source_of("flash3", workload(dtype="float32"))
    with pytest.raises(UnsupportedError, match="simt has no backward pass"):
        source_of("simt", structs.replace(workload(), passes="backward"))
