"""`source`: a kernel's source in a terminal and in a pipe, alone, as a diff and side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.cli import main
from flashscope.app.commands.inside import source as commands_source
from flashscope.app.words.own.line_diff import diff_hunks, sides
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard
from flashscope.kernels.cuda.reading.step import read_problem, source_of
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.cuda.sass.resources import Resources
from flashscope.kernels.workload.problem import Problem
from tests.app.commands.terminal import pretend_terminal, uncoloured

A100 = next(card for card in CARDS if card.name == "A100")
Printed = pytest.CaptureFixture[str]
LINES = st.lists(st.sampled_from(["a;", "b;", "    c;", "", "d" * 30, "e f " * 12]), max_size=12)


def test_a_pipe_gets_the_source_that_is_compiled(capsys: Printed) -> None:
    assert main(["source", "flash3-b", "--head-dim", "64", "--causal"]) == 0
    found = source_of("flash3-b", read_problem(64, causal=True))
    assert capsys.readouterr().out == f"// {found.heading}\n{found.text}"


def test_so_it_does_of_a_backward_pass(capsys: Printed) -> None:
    assert main(["source", "flash3", "--pass", "backward", "--head-dim", "256"]) == 0
    found = source_of("flash3", read_problem(256, passes="backward"))
    assert capsys.readouterr().out == f"// {found.heading}\n{found.text}"
    assert found.file == "flash3_backward_wide.cu"


def test_a_terminal_gets_it_in_colours(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    pretend_terminal(monkeypatch, 200)
    main(["source", "fused"])
    printed = capsys.readouterr().out
    assert "\x1b[" in printed
    assert 'extern "C" __global__' in uncoloured(printed)


def test_what_has_changed_is_a_diff_in_a_pipe(capsys: Printed) -> None:
    assert main(["source", "flash3-c", "--against", "flash3-b"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("--- flash3-b: kernels/cuda/flash3.cu")
    assert "-#define SCHEDULE 0" in printed
    assert "+#define SCHEDULE 1" in printed


def test_it_stands_side_by_side_on_a_wide_terminal_with_signs_and_not_by_colour_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    pretend_terminal(monkeypatch, 160)
    main(["source", "flash3-c", "--against", "flash3-b"])
    printed = capsys.readouterr().out
    line = next(one for one in uncoloured(printed).splitlines() if "SCHEDULE 0" in one)
    assert line.split() == ["-", "#define", "SCHEDULE", "0", "|", "+", "#define", "SCHEDULE", "1"]
    assert max(map(len, uncoloured(printed).splitlines())) <= 160
    assert "\x1b[32m+ #define SCHEDULE 1" in printed


def test_kernels_of_one_source_are_told_to_be_alike(capsys: Printed) -> None:
    main(["source", "flash3", "--against", "flash3"])
    assert capsys.readouterr().out.endswith(": the same as flash3\n")


def test_the_source_is_that_for_the_gpu_that_is_named(capsys: Printed) -> None:
    assert main(["source", "flash2", "--gpu", "a100"]) == 0
    found = source_of("flash2", read_problem(), A100)
    assert capsys.readouterr().out == f"// {found.heading}\n{found.text}"
    assert "sm_80" in found.heading


def test_machine_code_stands_under_its_lines_once_for_each_kernel(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    taken = Resources(registers=40, stack=0, spilled=0, shared=0, reloaded=0)
    code = [Instruction(0x10, "FADD R1, R2, R3", "", (SourcePlace("flash2.cu", 1),))]
    kernels = [KernelListing(name, code, taken, 128, 0, 1) for name in ("first", "second")]

    def made(kernel: str, problem: Problem, card: GpuCard, _folder: object) -> BuildListing:
        return BuildListing(source_of(kernel, problem, card), card.target.arch, "NVRTC 13.0", kernels)

    monkeypatch.setattr(commands_source, "listing_of", made)
    assert main(["source", "flash2", "--sass", "--gpu", "A100"]) == 0
    printed = capsys.readouterr().out
    assert [name in printed for name in ("// first: 40 registers", "// second: 40 registers")] == [True, True]
    assert printed.count("     1 | #define DTYPE_bfloat16 1\n            000010  FADD R1, R2, R3\n") == 2
    assert "Compiled here by NVRTC 13.0 for the A100 (sm_80)" in printed
    assert printed.count("Occupancy: 12 blocks an SM, 48 of 64 warps (75.0%); registers let in") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("flash9", 2, "flash9 is none of the ladder's kernels"),
        ("flash3 --head-dim 0", 2, "'0' is not a whole number from 1"),
        ("flash3 --head-dim 40", 2, "flash3 takes head dims 64 to 256"),
        ("fused --pass backward", 2, "fused has no backward pass"),
        ("flash3 --form diff", 2, "--form belongs to --against"),
        ("flash3 --sass --against flash2", 2, "--sass is of one kernel"),
        ("flash3 --sass --gpu A100", 2, "flash3"),
        ("flash3 --gpu Z9", 2, "Z9"),
    ],
)
def test_what_cannot_be_printed_is_told_in_a_line(
    arguments: str, code: int, told: str, capsys: Printed
) -> None:
    assert main(["source", *arguments.split()]) == code
    said = capsys.readouterr()
    assert told in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)


@given(LINES, LINES, st.integers(13, 60), st.booleans())
def test_no_line_is_lost_or_wider_than_its_column(
    old: list[str], new: list[str], width: int, aligned: bool
) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in (old, new)]
    columns = sides(diff_hunks(*texts, whole=True), width, aligned=aligned)
    for lines, column in zip((old, new), columns, strict=True):
        assert all(len(row.text) <= width for row in column)
        if old != new:
            for number, line in enumerate(lines):
                told = "".join(row.text for row in column if row.number == number)
                assert "".join(told.split()) == "".join(line.split())
    if aligned:
        assert len(columns[0]) == len(columns[1])


@given(LINES, LINES, st.integers(13, 60))
def test_a_row_knows_where_it_stands_in_its_line(old: list[str], new: list[str], width: int) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in (old, new)]
    for lines, column in zip((old, new), sides(diff_hunks(*texts), width), strict=True):
        for row in column:
            if row.number is not None and row.text.strip():
                at = len(row.text) - len(row.text.lstrip())
                assert lines[row.number][at + row.shift :].startswith(row.text.strip())
