"""The form without its widgets."""

import dataclasses
import json
import shlex
from collections.abc import Sequence
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.commands.declared.measuring import sweep as sweep_command
from flashscope.app.commands.sweep import make_plan
from flashscope.app.commands.together import asked_for
from flashscope.app.pages.profile.form.dry_run import dry_run, fit
from flashscope.app.pages.profile.form.reasons import blocked, impossible, left_out, unavailable
from flashscope.app.words.command_line import command_line
from flashscope.installation import PROGRAM
from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.block_pattern import BLOCK, BlockPattern
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import MOST_ELEMENTS, Problem
from flashscope.profiles.plan.choice import LARGEST, Declared, choices_of
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import CHOICES as PRESET_CHOICES
from flashscope.profiles.plan.request import Lengths, Request
from flashscope.profiles.plan.spelled import read_spelled, spelled
from tests.app.pages.profile.choices import another
from tests.profiles.sessions import CPU, GPU, MACHINE

NAMES = tuple(spec.name for spec in KERNELS)


OWN: dict[str, st.SearchStrategy[Any]] = {
    "kernels": st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(tuple),
    "seqlens": st.lists(st.integers(1, 1 << 16), min_size=1, max_size=6, unique=True).map(
        lambda n: tuple(sorted(n))
    ),
    "window": st.none() | st.tuples(st.integers(-1, 300), st.integers(-1, 300)),
    "blocks": st.none() | st.builds(BlockPattern, local=st.integers(0, 4), strided=st.none() | st.just(8)),
    "block_size": st.sampled_from((100, 128, 512)),
    "kv_heads": st.none(),  # see with_kv_heads
    "queries": st.just(0),  # see with_queries
    "lengths": st.just("full"),  # see with_layout
    "page_size": st.none(),  # likewise
}
FEW = ("head_dim", "head_dim_v", "heads", "batch")  # that make the problems of a plan large
MANY = 64


def values_of(declared: Declared) -> st.SearchStrategy[Any]:
    """Every value that a choice takes; of those that make problems large, only small ones."""
    low, high = declared.choice.low, declared.choice.high
    if declared.name in OWN:
        return OWN[declared.name]
    if declared.kind is int:
        return st.integers(int(low), MANY if declared.name in FEW else int(high))
    if declared.kind is float:
        return st.floats(low, high)
    return st.booleans() if declared.kind is bool else st.sampled_from(declared.options)


def with_kv_heads(sweep: Request) -> st.SearchStrategy[Request]:
    """The same sweep with every number of K/V heads that divides its heads."""
    divisors = [n for n in range(1, sweep.heads + 1) if sweep.heads % n == 0]
    return st.sampled_from((None, *divisors)).map(lambda kv_heads: replace(sweep, kv_heads=kv_heads))


def with_queries(sweep: Request) -> st.SearchStrategy[Request]:
    """The same sweep with fewer query rows than keys, where there are no blocks and that is possible."""
    most = 0 if sweep.blocks else min(sweep.seqlens) - 1
    return st.integers(0, most).map(lambda queries: replace(sweep, queries=queries))


def with_layout(sweep: Request) -> st.SearchStrategy[Request]:
    """The same sweep with spread lengths and pages, where there are no blocks and that is possible."""
    spread = ("full", "spread") if sweep.batch > 1 and not sweep.blocks else ("full",)
    sizes = (None,) if sweep.blocks else (None, *PAGE_SIZES)

    def laid_out(lengths: Lengths, size: int | None) -> Request:
        seqlens = tuple(n * (size or 1) for n in sweep.seqlens)
        return replace(sweep, lengths=lengths, page_size=size, seqlens=seqlens)

    return st.builds(laid_out, st.sampled_from(spread), st.sampled_from(sizes))


def without_idle_mode(sweep: Request) -> Request:
    """The same sweep; of a forward pass no gradients are deterministic."""
    return replace(sweep, deterministic=sweep.deterministic and sweep.passes != "forward")


def without_idle_size(sweep: Request) -> Request:
    """The same sweep; without blocks their size is nobody's choice."""
    return sweep if sweep.blocks else replace(sweep, block_size=BLOCK)


CHOICES = choices_of(Request)
BY_NAME = {declared.name: declared for declared in CHOICES}
SWEEPS = (
    st.fixed_dictionaries({declared.name: values_of(declared) for declared in CHOICES})
    .map(lambda chosen: without_idle_mode(without_idle_size(Request.of(**chosen))))
    .flatmap(with_kv_heads)
    .flatmap(with_queries)
    .flatmap(with_layout)
    .filter(lambda sweep: sweep.batch * sweep.heads * max(sweep.seqlens) ** 2 <= MOST_ELEMENTS)
)


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """The choices that the command line takes these words for."""
    with sweep_command.make_context("sweep", list(words)) as context:
        return asked_for(context)


@given(SWEEPS)
def test_a_plan_holds_every_choice_and_gives_the_same_choices_back(sweep: Request) -> None:
    plan = sweep.plan()
    assert tuple(problem.seqlen for problem in plan.problems) == sweep.seqlens
    assert tuple(problem.seqlen_q for problem in plan.problems) == tuple(
        sweep.queries or n for n in sweep.seqlens
    )
    assert {problem.dtype for problem in plan.problems} == {sweep.dtype}
    assert plan.protocol == sweep.protocol
    assert Request.of_plan(plan) == sweep


@given(SWEEPS)
def test_what_is_spelled_for_a_file_is_read_as_the_same_sweep(sweep: Request) -> None:
    assert read_spelled(json.loads(json.dumps(spelled(sweep)))) == sweep


def test_the_command_line_says_how_many_runs_there_are_where_there_are_several() -> None:
    sweep = Request.of("cpu")
    assert "--runs" not in command_line(sweep, 1)
    words = shlex.split(command_line(sweep, 5).removeprefix(PROGRAM))
    with sweep_command.make_context("sweep", words[1:]) as context:
        assert context.params["runs"] == 5


@pytest.mark.matrix
@given(SWEEPS)
def test_the_command_line_names_the_same_sweep(sweep: Request) -> None:
    command, *words, out, file = shlex.split(command_line(sweep).removeprefix(PROGRAM))
    assert command == "sweep"
    assert (out, file) == ("--out", "sweep.flashscope")
    assert words == sweep.words()
    assert Request.of(**parsed(words)) == sweep
    assert make_plan(parsed(words), CPU if sweep.backend == "cpu" else GPU) == sweep.plan()


@pytest.mark.parametrize("declared", CHOICES, ids=[declared.name for declared in CHOICES])
def test_the_command_line_takes_the_whole_range_of_a_choice_and_nothing_beyond(declared: Declared) -> None:
    low, high = declared.choice.low, declared.choice.high
    needed = {declared.choice.needs: "local:1"} if declared.choice.needs else {}
    beside = [word for name, text in needed.items() for word in (BY_NAME[name].choice.flag, text)]
    if not declared.span:
        return
    for number in (low, high):
        word = declared.write(declared.kind(number))
        assert parsed([*beside, declared.choice.flag, word])[declared.name] == number
    for text in (str(low - 1), str(high + 1), "many", "nan", ""):
        with pytest.raises(click.BadParameter):
            parsed([*beside, declared.choice.flag, text])


def test_what_is_not_said_is_left_to_the_machine() -> None:
    assert parsed([]) == {}
    assert make_plan({}, CPU) == Request.of("cpu").plan()
    assert make_plan({"drift_check": False}, CPU).protocol == Protocol(drift_check=False)


def test_a_choice_that_belongs_to_another_is_refused_without_it() -> None:
    with pytest.raises(click.UsageError, match="--block-size belongs to --block-mask"):
        parsed(["--block-size", "64"])


def test_a_preset_takes_how_to_measure_and_refuses_every_choice_of_a_problem() -> None:
    for declared in CHOICES:
        said = declared.command_words(another(declared))
        own = declared.name in Request.__struct_fields__ and declared.name not in PRESET_CHOICES
        if own:
            with pytest.raises(click.UsageError, match=r"names its own problems|belongs to"):
                parsed(["--preset", "peers", *said])
        else:
            assert parsed(["--preset", "peers", *said])


def test_a_sweep_without_kernels_lengths_or_device_is_blocked_with_a_reason() -> None:
    sweep = Request.of("cuda")
    assert blocked(sweep, MACHINE) is None
    no_kernel = Request.of("cuda", kernels=(), seqlens=(256,))
    assert "kernel" in str(blocked(no_kernel, MACHINE))
    no_length = Request.of("cuda", kernels=("standard",), seqlens=())
    assert "sequence length" in str(blocked(no_length, MACHINE))
    cpu_only = type(MACHINE)(system="Debian", python="3.11", devices=(CPU,))
    too_many = Request.of("cuda", heads=LARGEST, batch=LARGEST)
    assert "elements; choose fewer" in str(blocked(too_many, MACHINE))
    assert "no cuda device" in str(blocked(sweep, cpu_only))


def test_a_kernel_that_the_device_rules_out_says_why() -> None:
    half_on_cpu = Request.of("cpu", kernels=NAMES, seqlens=(256,), dtype="float16")
    assert "float16" in str(unavailable(KERNELS[0], half_on_cpu, CPU))
    assert unavailable(KERNELS[0], Request.of("cuda"), GPU) is None


@given(st.integers(1, 1 << 40), st.integers(1, 1 << 40))
def test_what_needs_more_than_is_free_never_fits(predicted: int, free: int) -> None:
    verdict = fit(predicted, free, 0.05)
    assert (verdict == "will not fit") == (predicted * 1.05 > free)


def test_the_dry_run_predicts_what_the_kernels_predict() -> None:
    sweep = Request.of("cuda", kernels=NAMES, seqlens=(512, 65536))
    short, long = dry_run(sweep, 141 << 30)
    for cell in (*short.cells, *long.cells):
        seqlen = 512 if cell in short.cells else 65536
        assert cell.predicted_bytes == find_kernel(cell.kernel).predicted_bytes(sweep.problem(seqlen), "cuda")
    assert short.worst == "fits"
    assert long.worst == "will not fit"
    tiled = [cell.fit for cell in long.cells if find_kernel(cell.kernel).family == "tiled"]
    assert set(tiled) == {"fits"}


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"queries": 64}, "64 query rows are not fewer than N = 64"),
        ({"queries": 1, "blocks": BlockPattern(local=0)}, "leave out the query rows or the pattern"),
        ({"lengths": "spread"}, "Spread lengths need a batch from 2 to 512, not 1."),
        ({"page_size": 128}, "N = 64 is no multiple of the page size of 128; leave pages out, or take other"),
        ({"page_size": 64, "blocks": BlockPattern(local=0)}, "A block mask is for sequences of one length"),
    ],
)
def test_choices_that_make_no_problem_are_refused(choices: dict[str, Any], said: str) -> None:
    asked = Request.of("cpu", seqlens=(64, 128), **choices)
    with pytest.raises(InputError, match=said):
        asked.plan()
    assert said in (impossible(asked) or "")


def test_what_the_form_cannot_hold_of_a_session_is_said() -> None:
    plain = Problem(seqlen_q=64, seqlen_k=64)
    pattern = BlockPattern(local=0).mask(64, 64, block=16)
    by_hand = BlockMask.of([[True]], 64, 64)
    assert left_out([plain, replace(plain, seqlen_q=128, seqlen_k=128)]) == []
    for problems, said in (
        ((replace(plain, batch=4), plain), "batch goes from 4 to 1 along N; the form takes 1"),
        ((replace(plain, seqlen_k=32),), "query rows are neither N nor one lower number"),
        ((replace(plain, key_lengths=(7,)),), "lengths of their own; it takes full ones"),
        ((replace(plain, window=(9, 0), block_mask=pattern),), "window is left out"),
        ((replace(plain, block_mask=by_hand),), "not made from a pattern and is left out"),
    ):
        (only,) = left_out(problems)
        assert said in only


def test_without_knowing_what_is_free_the_dry_run_judges_nothing() -> None:
    assert {row.worst for row in dry_run(Request.of("cpu"), None)} == {"unknown"}


def test_spread_lengths_are_those_of_keys_and_of_rows_unless_these_are_given() -> None:
    asked = Request.of("cpu", seqlens=(100,), batch=3, lengths="spread", page_size=None)
    assert asked.problem(100).key_lengths == asked.problem(100).query_lengths == (34, 67, 100)
    decoding = replace(asked, queries=1)
    assert decoding.problem(100).key_lengths == (34, 67, 100)
    assert decoding.problem(100).query_lengths is None


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"lengths": "spread"}, "torch-math does not take ragged lengths on cpu"),
        ({"page_size": 64, "batch": 1}, "torch-math does not take a paged K/V cache on cpu"),
    ],
)
def test_a_kernel_that_cannot_take_the_layout_says_so_whatever_the_lengths(
    choices: dict[str, Any], said: str
) -> None:
    asked = Request.of("cpu", **choices)
    spec = dataclasses.replace(find_kernel("torch-math"), extra=None)  # whether it is installed or not
    assert unavailable(spec, asked, CPU) == said
    assert unavailable(find_kernel("flash2"), asked, CPU) is None


@pytest.mark.parametrize("size", ["48", "none", "1e1", "64.0"])
def test_a_page_of_another_size_is_refused_on_the_command_line(size: str) -> None:
    with pytest.raises(click.BadParameter, match=f"'{size}' is none of 16, 32, 64, 128, 256"):
        parsed(["--page-size", size])
