"""flash3's heads packed into several tiles, also in parts and under a causal mask, in the emulator."""

from dataclasses import replace
from functools import partial
from itertools import product

from msgspec.structs import replace as replaced

from flashscope.kernels.catalogue.flash3_share import Share, TileShape
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.shared_traffic import flash3_shared_as
from flashscope.kernels.catalogue.workspace import flash3_shared
from flashscope.kernels.cuda import flash3
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.launch import moved_bytes
from tests.kernels.cuda.emulator.running import Setting, fails, forward, needs_compiler
from tests.kernels.cuda.packed import GROUP, OTHERS, of_other, ways
from tests.matrix import chosen, matrix

pytestmark = needs_compiler
THREE, TWO, WIDE, ONE = TileShape(3, 128), TileShape(2, 128), TileShape(2, 80), TileShape(1, 64)
ROWS = {3: (90, 300), 4: (75, 193), 7: (41, 262), 8: (130, 519)}  # of a head, and keys, by query heads of one
SHAPES = ((64, THREE), (64, TWO), (96, TileShape(3, 112)), (128, TWO), (256, WIDE), (256, ONE))
CASES = [
    (head_dim, Share(shape, group, splits, draws), causal)
    for (head_dim, shape), group, splits, draws, causal in product(
        SHAPES, ROWS, (1, 3), (True, False), (True, False)
    )
]
IN_EVERY_RUN = [(64, Share(THREE, 4, 1, draws=False), True), (64, Share(THREE, 3, 3), True)]
PACKED_MUTANTS: dict[str, Edits] = {
    "a tile's rows are of one head": (("(first + 8 * r) % head_rows", "first + 8 * r"),),
    "a warpgroup's first row sees what the tile's does": (("first = 1 ? 0 : row", "first = row"),),
}
OTHER_MUTANTS: dict[str, tuple[str, Edits]] = {
    "a tile's rows have one sink": ("sinks", (("min((row + 8 * r) / head_rows, group_heads - 1)", "0"),)),
    "a head's padding is written": ("ragged", (("(row0 + 8 * r) % head_rows", "0"),)),
}


def several_tiles(head_dim: int, group: int, *, causal: bool) -> Problem:
    """Heads that share one of K and V, with more rows together than a tile."""
    seqlen_q, seqlen_k = ROWS[group]
    return Problem(
        heads=group,
        kv_heads=1,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
    )


@chosen("head_dim,share,causal", CASES, IN_EVERY_RUN)
def test_heads_packed_into_several_tiles_agree_with_the_oracle(
    head_dim: int, share: Share, causal: bool
) -> None:
    """No tile but the first begins with a head, and rows of a tile see fewer keys than others before them."""
    problem = several_tiles(head_dim, share.pack_gqa, causal=causal)
    assert share.pack_gqa * problem.seqlen_q > share.shape.rows
    spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, share))
    for seed in range(2):
        verdict = forward(spec, problem, partial(flash3.program, chosen=share), Setting(seed))
        assert verdict.passed, (seed, verdict)


@matrix(
    "kind head_dim splits causal",
    product(OTHERS, (64, 256), (1, 3), (True, False)),
    "kind causal",
    few=2,
)
def test_heads_packed_under_other_masks_layouts_and_scores_agree_with_the_oracle(
    kind: str, head_dim: int, splits: int, causal: bool
) -> None:
    problem = of_other(kind, head_dim, causal=causal)
    for seed, share in enumerate(ways(problem, splits)):
        spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, share))  # noqa: B023 - now
        verdict = forward(spec, problem, partial(flash3.program, chosen=share), Setting(seed))
        assert verdict.passed, (share, verdict)


@matrix("group rows causal", product(ROWS, (61, 130), (True, False)), few=1)
def test_packed_tiles_that_end_in_half_a_key_tile_move_what_the_formula_says(
    group: int, rows: int, causal: bool
) -> None:
    """All warpgroups leave out the other half; none where a row does not see all keys before that tile."""
    share = Share(THREE, group)
    for keys in (300, 319, 320, 340):  # 44, 63, 64 and 84 of the last tile
        problem = replaced(several_tiles(64, group, causal=causal), seqlen_q=rows, seqlen_k=keys)
        moved_bytes()
        assert forward("flash3", problem, partial(flash3.program, chosen=share)).passed
        assert moved_bytes() == flash3_shared_as(problem, share)


@chosen("mutant", PACKED_MUTANTS, ())
def test_a_mutant_of_packed_tiles_is_found(mutant: str) -> None:
    problem = several_tiles(64, 4, causal=True)
    program = partial(flash3.program, chosen=Share(THREE, 4))
    assert any(
        fails(partial(forward, "flash3", problem, program, Setting(seed, edits=PACKED_MUTANTS[mutant])))
        for seed in range(2)
    )


@chosen("mutant", OTHER_MUTANTS, ())
def test_a_mutant_of_packed_sinks_and_uneven_rows_is_found(mutant: str) -> None:
    kind, edits = OTHER_MUTANTS[mutant]
    problem = of_other(kind, 64, causal=True)
    program = partial(flash3.program, chosen=Share(TWO, GROUP))
    assert forward("flash3", problem, program).passed
    assert fails(partial(forward, "flash3", problem, program, Setting(edits=edits)))
