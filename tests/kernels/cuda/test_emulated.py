"""Every kernel in the emulator against the oracle: masks, uneven batches, pages, GPUs of each generation."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.flash3_share import Share, TileShape, usual_shape
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import flash3_shared
from flashscope.kernels.cuda import (
    flash1_backward,
    flash2_backward,
    flash3,
    standard_backward,
)
from flashscope.kernels.cuda.program import ProgramOf
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype, Passes, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import in_mode, rising_in_every_second_row
from tests.kernels.cuda.builds import FORWARD
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, fails, forward, needs_compiler, target
from tests.kernels.cuda.emulator.running import drawn as drawn_inputs
from tests.kernels.cuda.test_masks import drawn
from tests.matrix import chosen, matrix

pytestmark = needs_compiler
BACKWARD: dict[str, ProgramOf] = {
    "standard": standard_backward.program,
    "flash1": flash1_backward.program,
    "flash2": flash2_backward.program,
    "flash2 deterministic": flash2_backward.program,
}
EVEN, PAGED = {"seqlen_q": 70, "seqlen_k": 133}, {"seqlen_q": 70, "seqlen_k": 192}
LENGTHS: dict[str, Any] = {"batch": 2, "query_lengths": (70, 31), "key_lengths": (5, 131)}
KINDS: dict[str, dict[str, Any]] = {
    "full": EVEN,
    "causal": {**EVEN, "causal": True},
    "more rows": {"seqlen_q": 150, "seqlen_k": 37, "causal": True},
    "window": {**EVEN, "window": (30, 20)},
    "blocks": {**EVEN, "block_mask": drawn(70, 133, (64, 32))},
    "ragged": {**EVEN, **LENGTHS},
    "pages": {**PAGED, "page_size": 32, "causal": True},
    "ragged pages": {**PAGED, **LENGTHS, "page_size": 64, "window": (40, 9)},
}
IN_EVERY_RUN = {
    "standard": "full",
    "fused": "window",
    "simt": "ragged",
    "flash1": "blocks",
    "flash2": "pages",
    "flash2 deterministic": "more rows",
    "flash3": "causal",
    "flash3-fp8": "more rows",
}
NARROWEST = 64  # of flash3
GPUS = (750, 800, 890, 900, 1200)

SCORES = "if (scale < 0.0f) TileQ::negate(shared);"
LOADED = "wait_copies<0>();"
MUTANTS: dict[str, tuple[str, Edits]] = {
    "copies are not waited for": ("flash2", ((f"{LOADED}\n        __syncthreads();", "__syncthreads();"),)),
    "others' copies are not waited for": ("flash2", ((f"{LOADED}\n        __syncthreads();", LOADED),)),
    "Q is not waited for": ("flash2", ((f"{SCORES}\n    __syncthreads();", SCORES),)),
    "one buffer of K": ("flash2", (("stage = TileK::BYTES - stage;", ""),)),
    "O behind the last row": ("flash2", (("if (row < rows && chunk * 8 < columns) {", "{"),)),
    "LSE behind the last row": ("flash2", (("if (row < out_rows && lane % 4 == 0)", "if (lane % 4 == 0)"),)),
    "lanes do not meet": ("simt", (("    __syncwarp();\n    multiply_columns", "    multiply_columns"),)),
    "Q is overwritten": ("flash3-c", (("wait(at.q_empty(rq.stage), rq.phase ^ 1);", ""),)),
    "K is overwritten": ("flash3-c", (("wait(at.k_empty(rk.stage), rk.phase ^ 1);", ""),)),
    "V is overwritten": ("flash3-c", (("wait(at.v_empty(rv.stage), rv.phase ^ 1);", ""),)),
    "the next tile is not waited for": ("flash3-c", (("wait(at.tile_full(), tile_phase);", ""),)),
}
KEYS_OF_128 = "work.last * 128"
EARLY_MUTANTS: dict[str, Edits] = {
    "others' rows are not waited for": (("(rq.stage, ONE_TILE ? group : 0)", "(rq.stage)"),),
    "all rows where the first lie": (("Q_PANEL + part * bytes", "Q_PANEL"),),
    "the first rows for all": (("row + 64 * part", "row"),),
    "a part of Q never comes": (("part < 2; ++part) load_part", "part < 1; ++part) load_part"),),
    "the first keys twice": (("int j = asked ? work.last : work.last + 1;", "int j = work.last + 1;"),),
    "other keys first": ((KEYS_OF_128, "work.begin * 128"),),
    "another head first": (("unsigned(tile) / unsigned(tiles_q)", "0"),),
    "no mask on the last keys": (("!(0 ? j >= own.whole : (j + 1) * 128 > own.limit) &&", ""),),
    "no mask on the left": (("j * 128 >= work.lower : true))", "true : true))"),),
}
HELD = "walk.next();\n       \n        wait_copies<0>();"
BACKWARD_MUTANTS: dict[str, Edits] = {
    "P and dS are not waited for": (("if (SHARED_DS) __syncthreads();", ""),),
    "copies are not waited for": ((HELD, "walk.next();"),),
    "others' copies are not waited for": ((f"{HELD}\n        __syncthreads();", HELD),),
    "one stage of Q and dO": (("stage = 1 - stage)", "stage = stage)"),),
    "a warp's own P twice": (("(place.part * OWN + OWN + i) % STEPS", "(place.part * OWN + i) % STEPS"),),
    "sums behind the last query": (("if (row_group + r >= rows) continue;", ""),),
    "dQ behind the last query": (("if (q + 8 * r < seqlen_q) {", "{"),),
    "P stays in a warp": (
        ("if (SHARED_P) put_rows<Weights>(shared.p(), p, place.lane, place.first_key, first_query);", ""),
    ),
    "K is overwritten by dK": (
        ("    wait_copies<0>();\n    __syncthreads();\n    scale_all(acc_k", "    scale_all(acc_k"),
    ),
}


def cases(programs: dict[str, ProgramOf], *, passes: Passes) -> Iterator[tuple[str, str, int, Dtype, int]]:
    """Kernel, kind, head dim, dtype, GPU: every kernel with every kind it takes, the others in turns."""
    turn = 0
    for name, kind, narrow in product(programs, KINDS, (True, False)):
        spec, turn = find_kernel(name.split(maxsplit=1)[0]), turn + 1
        dtype = spec.dtypes["cuda"][turn % len(spec.dtypes["cuda"])]
        widths = (64, 96, 80) if spec.head_dims["cuda"][0] < NARROWEST else (64, 128, 96)
        head_dim = widths[turn % 3] if narrow else 192
        arch = 900 if spec.max_compute_capability else GPUS[turn % len(GPUS)]
        problem = of_kind(kind, head_dim, dtype, passes)
        if spec.unsupported(problem, gpu(arch)) is None:
            yield name, kind, head_dim, dtype, arch


def of_kind(kind: str, head_dim: int, dtype: Dtype, passes: Passes = "forward") -> Problem:
    return Problem(heads=2, kv_heads=1, head_dim=head_dim, dtype=dtype, passes=passes, **KINDS[kind])


def gpu(arch: int) -> Device:
    return Device(
        backend="cuda",
        name="emulated",
        memory_bytes=2**30,
        compute_capability=target(arch).compute_capability,
        shared_memory_per_block=target(arch).shared_memory,
    )


def each(programs: dict[str, ProgramOf], *, passes: Passes) -> pytest.MarkDecorator:
    """Every run takes the first of the cases of each kind in IN_EVERY_RUN."""
    every = [*cases(programs, passes=passes)]
    first = {case[:2]: case for case in reversed(every)}
    kept = [first[pair] for pair in IN_EVERY_RUN.items() if pair in first]
    return chosen("name,kind,head_dim,dtype,arch", every, kept)


@each(FORWARD, passes="forward")
def test_outputs_agree_with_the_oracle(name: str, kind: str, head_dim: int, dtype: Dtype, arch: int) -> None:
    problem = of_kind(kind, head_dim, dtype)
    for seed in range(2):
        verdict = forward(name, problem, FORWARD[name], Setting(seed, arch))
        assert verdict.passed, (seed, verdict)


@each(BACKWARD, passes="backward")
def test_gradients_agree_with_the_oracle(
    name: str, kind: str, head_dim: int, dtype: Dtype, arch: int
) -> None:
    problem = in_mode(of_kind(kind, head_dim, dtype), deterministic=name.endswith("deterministic"))
    for seed in range(2):
        verdict = backward(name.split(maxsplit=1)[0], problem, BACKWARD[name], Setting(seed, arch))
        assert verdict.passed, (seed, verdict)


@matrix(
    "shape packed splits draws kind",
    product(
        (TileShape(1, 64), TileShape(2, 128), TileShape(3, 128)),
        (1, 2),
        (1, 3),
        (False, True),
        ("full", "causal", "pages"),
    ),
    *("packed splits", "kind packed"),
    few=1,
)
def test_shared_tiles_agree_with_the_oracle(
    shape: TileShape, packed: int, splits: int, draws: bool, kind: str
) -> None:
    """flash3 with heads packed into tiles, and keys in parts that a second launch merges."""
    share = Share(shape, packed, splits, draws)
    problem = of_kind(kind, 64, "bfloat16")
    spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, share))
    for seed in range(2):
        verdict = forward(spec, problem, partial(flash3.program, chosen=share), Setting(seed))
        assert verdict.passed, (seed, verdict)


@chosen("kind", ("full", "causal", "pages"), ("full",))
def test_two_blocks_of_an_sm_that_draw_tiles_agree_with_the_oracle(kind: str) -> None:
    """With two stages of Q, too."""
    share = Share(TileShape(1, 64), draws=True, residents=2)
    problem = of_kind(kind, 128, "bfloat16")
    cut = flash3.flash3_variant(problem, chosen=share)
    assert (cut.stages, cut.q_stages, cut.schedule) == (2, 2, 1)
    spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, share))
    for seed in range(2):
        verdict = forward(spec, problem, partial(flash3.program, chosen=share), Setting(seed))
        assert verdict.passed, (seed, verdict)


@matrix(
    "cut kind",
    product(
        (
            (TileShape(1, 64), 2, 3),
            (TileShape(1, 64), 1, 1),
            (TileShape(2, 128), 2, 3),
            (TileShape(3, 128), 1, 1),
        ),
        (kind for kind in KINDS if kind != "blocks"),
    ),
    "kind",
    "cut",
    few=0,
)
def test_a_block_of_one_tile_that_asks_for_it_early_agrees_with_the_oracle(
    cut: tuple[TileShape, int, int], kind: str
) -> None:
    """Of one warpgroup, also two blocks an SM, over head dim 64 of two stages each."""
    for residents, head_dim in ((1, 64), (2, 64), (2, 128)) if cut[0].groups == 1 else ((1, 64),):
        problem = of_kind(kind, head_dim, "bfloat16")
        share = Share(*cut, draws=False, residents=residents)
        assert flash3.flash3_variant(problem, chosen=share).early == (problem.page_size is None)
        spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, share))  # noqa: B023 - now
        for seed in range(2):
            verdict = forward(spec, problem, partial(flash3.program, chosen=share), Setting(seed))
            assert verdict.passed, (residents, head_dim, seed, verdict)


@chosen("mutant", EARLY_MUTANTS, ())
def test_a_mutant_of_an_early_tile_is_found(mutant: str) -> None:
    keys: dict[str, Any] = {"seqlen_k": 256, "window": (10, 200)} if "left" in mutant else {"seqlen_k": 300}
    problem = Problem(heads=2, seqlen_q=133, head_dim=64, dtype="float16", **keys)
    program = partial(flash3.program, chosen=Share(TileShape(2, 128), draws=False))
    assert forward("flash3", problem, program).passed
    edits = EARLY_MUTANTS[mutant]
    runs = (partial(forward, "flash3", problem, program, Setting(seed, edits=edits)) for seed in range(8))
    assert any(map(fails, runs))


@matrix(
    "head_dim draws dtype rise",
    product((64, 128, 256), (True, False), ("bfloat16", "float16"), (7.5, 8.5, 40.0)),
    few=0,
)
def test_a_maximum_may_rise_by_any_step(head_dim: int, draws: bool, dtype: Dtype, rise: float) -> None:
    """flash3's usual tiles rescale seldom."""
    problem = Problem(heads=2, seqlen_q=65, seqlen_k=2100, head_dim=head_dim, dtype=dtype, scale=4.0)
    case = rising_in_every_second_row(problem, rise)
    inputs = Inputs(*(array.astype(storage_dtype(dtype)) for array in case.inputs.qkv))
    share = Share(usual_shape(problem), draws=draws)
    assert flash3.flash3_variant(problem, chosen=share).lazy == (head_dim > NARROWEST or not draws)
    for seed in range(2):
        verdict = forward(
            "flash3", problem, partial(flash3.program, chosen=share), Setting(seed), inputs=inputs
        )
        assert verdict.passed, (seed, verdict)


MET = "publish_stores();\n    __syncwarp();"
DIAGONALS = ((200, 200), (133, 300), (320, 150), (1, 1))  # some end at a half, some behind it
END_MUTANTS: dict[str, Edits] = {
    "O is stored from before": ((MET, "__syncwarp();"),),
    "Q comes while O leaves": (("stores_are_read();\n                arrive", "arrive"),),
    "half of every first tile": (("end - j * 128 <= HALF_KEYS", "true"),),
    "no mask behind the half": (("&& limit >= j * 128", ""),),
    "the half's weights for all keys": (("for (int i = n / 2; i < S_REGS / 2; ++i) p[i] = 0;", ""),),
    "Q and the first keys twice": (("bool asked = 1;", "bool asked = false;"),),
}


@matrix("head_dim block_k causal", product((64, 128), (112, 128, 160), (True, False)), few=0)
def test_first_and_last_steps_of_usual_tiles_agree_with_the_oracle(
    head_dim: int, block_k: int, causal: bool
) -> None:
    """Halves of first tiles, O by TMA, tiles asked for early and drawn late; of blocks with many tiles."""
    for seqlen_q, seqlen_k in DIAGONALS:
        problem = Problem(
            heads=3, seqlen_q=seqlen_q, seqlen_k=seqlen_k, head_dim=head_dim, dtype="bfloat16", causal=causal
        )
        with pytest.MonkeyPatch.context() as patch:
            shape = usual_shape(problem) if head_dim == NARROWEST else TileShape(2, block_k)
            patch.setattr(flash3, "usual_shape", lambda _: shape)  # noqa: B023 - now
            program = partial(flash3.program, chosen=Share(shape))
            for seed in range(2):
                verdict = forward("flash3", problem, program, Setting(seed, grid=1))
                assert verdict.passed, (seqlen_q, seqlen_k, seed, verdict)


@chosen("mutant", END_MUTANTS, ())
def test_a_mutant_of_the_first_and_last_steps_is_found(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    halved = TileShape(2, 128)
    monkeypatch.setattr(flash3, "usual_shape", lambda _: halved)
    for seqlen_q, seqlen_k in DIAGONALS[:2]:
        problem = Problem(
            heads=3, seqlen_q=seqlen_q, seqlen_k=seqlen_k, head_dim=128, dtype="bfloat16", causal=True
        )
        program = partial(flash3.program, chosen=Share(halved))
        settings = (Setting(seed, grid=1, edits=END_MUTANTS[mutant]) for seed in range(8))
        if any(fails(partial(forward, "flash3", problem, program, setting)) for setting in settings):
            return
    pytest.fail("none of the runs failed")


FREE_MUTANT: Edits = (("(!1 || j > work.begin)", "true"),)  # as the preprocessor leaves it


@matrix("seqlen_q block_k causal", product((133, 70, 200), (128, 176), (False, True)), few=0)
def test_a_first_product_without_a_turn_agrees_with_the_oracle(
    seqlen_q: int, block_k: int, causal: bool
) -> None:
    """Also where the second warpgroup's rows are past the end, so that it only counts turns."""
    problem = Problem(heads=3, seqlen_q=seqlen_q, seqlen_k=400, head_dim=128, dtype="bfloat16", causal=causal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flash3, "usual_shape", lambda _: TileShape(2, block_k))
        share = Share(TileShape(2, block_k))
        assert flash3.flash3_variant(problem, chosen=share).free_first
        one = partial(forward, "flash3", problem, partial(flash3.program, chosen=share))
        for seed in range(2):
            verdict = one(Setting(seed, grid=1))
            assert verdict.passed, (seed, verdict)


@pytest.mark.matrix
def test_a_turn_that_only_one_warpgroup_counts_is_found() -> None:
    problem = Problem(heads=2, seqlen_q=133, seqlen_k=400, head_dim=128, dtype="bfloat16")
    program = partial(flash3.program, chosen=Share(usual_shape(problem)))
    assert any(
        fails(partial(forward, "flash3", problem, program, Setting(seed, grid=1, edits=FREE_MUTANT)))
        for seed in range(4)
    )


def test_a_maximum_that_rises_by_an_ulp_of_16_is_followed() -> None:
    """Of scores of 2^27 in base 2: p would not fit float16 else. The oracle has no bound where they round."""
    problem = Problem(seqlen_q=64, seqlen_k=256, head_dim=128, dtype="float16", scale=1.469472050666809)
    inputs = drawn_inputs(problem)
    for array in (inputs.q, inputs.k):
        array[...] = 0
        array[..., 0] = 8192
    inputs.q[..., 1] = 1
    inputs.k[..., 0, 1] = 8
    program = partial(flash3.program, chosen=Share(usual_shape(problem)))
    with np.errstate(over="ignore", invalid="ignore"):
        verdict = forward("flash3", problem, program, inputs=inputs)
    assert verdict.outputs[0].error < 0.01


@chosen("mutant", MUTANTS, [*MUTANTS][:1])
def test_a_mutant_is_found(mutant: str) -> None:
    kernel, edits = MUTANTS[mutant]
    problem = Problem(heads=4, seqlen_q=133, seqlen_k=300, head_dim=64, dtype="float16")
    grid = 1 if kernel == "flash3-c" else None
    one = partial(forward, kernel, problem, FORWARD[kernel])
    assert any(fails(partial(one, Setting(seed, grid=grid, edits=edits))) for seed in range(8))


@chosen("mutant", BACKWARD_MUTANTS, ())
def test_a_mutant_of_flash2_s_backward_pass_is_found(mutant: str) -> None:
    problem = Problem(
        heads=2, seqlen_q=203, seqlen_k=153, head_dim=128, dtype="bfloat16", causal=True, passes="backward"
    )
    one = partial(backward, "flash2", problem, flash2_backward.program)
    assert any(fails(partial(one, Setting(seed, edits=BACKWARD_MUTANTS[mutant]))) for seed in range(8))
