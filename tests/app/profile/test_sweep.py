"""The form without its widgets."""

import shlex
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from app.cli import make_parser
from app.commands.sweep import make_plan
from app.pages.profile.dry_run import dry_run, fit
from app.pages.profile.sweep import Sweep, blocked, left_out, unavailable
from kernels.block_mask import BlockMask
from kernels.block_pattern import BlockPattern
from kernels.problem import DTYPES, Problem
from kernels.registry import KERNELS, find_kernel
from tests.app.profile.builders import CPU, GPU, MACHINE

NAMES = tuple(spec.name for spec in KERNELS)


def with_kv_heads(sweep: Sweep) -> st.SearchStrategy[Sweep]:
    """The same sweep with every number of K/V heads that divides its heads."""
    divisors = [n for n in range(1, sweep.heads + 1) if sweep.heads % n == 0]
    return st.sampled_from((None, *divisors)).map(lambda kv_heads: replace(sweep, kv_heads=kv_heads))


SWEEPS = st.builds(
    Sweep,
    window=st.none() | st.tuples(st.integers(-1, 300), st.integers(-1, 300)),
    backend=st.sampled_from(("cpu", "cuda")),
    kernels=st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(tuple),
    seqlens=st.lists(st.integers(1, 1 << 16), min_size=1, max_size=6, unique=True).map(
        lambda n: tuple(sorted(n))
    ),
    dtype=st.sampled_from(DTYPES),
    batch=st.integers(1, 4),
    heads=st.integers(1, 32),
    head_dim=st.sampled_from((16, 64, 128)),
    causal=st.booleans(),
    repeats=st.integers(3, 50),
    blocks=st.none() | st.builds(BlockPattern, local=st.integers(0, 4), strided=st.none() | st.just(8)),
    time_cap_s=st.sampled_from((0.5, 10.0, 60.0)),
    seed=st.integers(0, 99),
    verify=st.booleans(),
    cold=st.booleans(),
    interleave=st.booleans(),
    shuffle=st.booleans(),
    drift_check=st.booleans(),
).flatmap(with_kv_heads)


@given(SWEEPS)
def test_a_plan_holds_every_choice_and_gives_the_same_choices_back(sweep: Sweep) -> None:
    plan = sweep.plan()
    assert tuple(problem.seqlen_q for problem in plan.problems) == sweep.seqlens
    assert {problem.dtype for problem in plan.problems} == {sweep.dtype}
    assert Sweep.of_plan(plan) == sweep


@given(SWEEPS)
def test_the_command_line_names_the_same_sweep(sweep: Sweep) -> None:
    python, main, *words = shlex.split(sweep.command_line())
    assert (python, main) == ("python", "main.py")
    options = make_parser().parse_args(words)
    assert make_plan(options, CPU if sweep.backend == "cpu" else GPU) == sweep.plan()


def test_a_sweep_without_kernels_lengths_or_device_is_blocked_with_a_reason() -> None:
    sweep = Sweep.default("cuda")
    assert blocked(sweep, MACHINE) is None
    no_kernel = Sweep(backend="cuda", kernels=(), seqlens=(256,), dtype="float16")
    assert "kernel" in str(blocked(no_kernel, MACHINE))
    no_length = Sweep(backend="cuda", kernels=("standard",), seqlens=(), dtype="float16")
    assert "sequence length" in str(blocked(no_length, MACHINE))
    cpu_only = type(MACHINE)(system="Debian", python="3.11", devices=(CPU,))
    assert "no cuda device" in str(blocked(sweep, cpu_only))


def test_a_kernel_that_the_device_rules_out_says_why() -> None:
    half_on_cpu = Sweep(backend="cpu", kernels=NAMES, seqlens=(256,), dtype="float16")
    assert "float16" in str(unavailable(KERNELS[0], half_on_cpu, CPU))
    assert unavailable(KERNELS[0], Sweep.default("cuda"), GPU) is None


@given(st.integers(1, 1 << 40), st.integers(1, 1 << 40))
def test_what_needs_more_than_is_free_never_fits(predicted: int, free: int) -> None:
    verdict = fit(predicted, free, 0.05)
    assert (verdict == "will not fit") == (predicted * 1.05 > free)


def test_the_dry_run_predicts_what_the_kernels_predict() -> None:
    sweep = Sweep(backend="cuda", kernels=NAMES, seqlens=(512, 65536), dtype="float16", heads=16)
    short, long = dry_run(sweep, 141 << 30)
    for cell in (*short.cells, *long.cells):
        seqlen = 512 if cell in short.cells else 65536
        assert cell.predicted_bytes == find_kernel(cell.kernel).predicted_bytes(sweep.problem(seqlen), "cuda")
    assert short.worst == "fits"
    assert long.worst == "will not fit"
    tiled = [cell.fit for cell in long.cells if find_kernel(cell.kernel).family == "tiled"]
    assert set(tiled) == {"fits"}


def test_what_the_form_cannot_hold_of_a_session_is_said() -> None:
    plain = Problem(seqlen_q=64, seqlen_k=64)
    pattern = BlockPattern(local=0).mask(64, 64, block=16)
    by_hand = BlockMask.of([[True]], 64, 64)
    assert left_out([plain, structs.replace(plain, seqlen_q=128, seqlen_k=128)]) == []
    for problems, said in (
        ((structs.replace(plain, batch=4), plain), "batch goes from 4 to 1 along N; the form takes 1"),
        ((structs.replace(plain, seqlen_k=32),), "as many keys as queries"),
        ((structs.replace(plain, window=(9, 0), block_mask=pattern),), "window is left out"),
        ((structs.replace(plain, block_mask=by_hand),), "not made from a pattern and is left out"),
    ):
        (only,) = left_out(problems)
        assert said in only


def test_without_knowing_what_is_free_the_dry_run_judges_nothing() -> None:
    assert {row.worst for row in dry_run(Sweep.default("cpu"), None)} == {"unknown"}
