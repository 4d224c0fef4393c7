"""What a roofline holds: each point at two intensities, and the ceilings that bound these points."""

import dataclasses

import pytest
from msgspec import structs

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.theory.bytes_moved import shared_bytes, tile_io
from flashscope.profiles.results.theory.roofline import BESIDE, roofline
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, L2_READS, SHARED_READS, Ceilings, matmul_key
from tests.profiles.results.theory.test_why import (
    CEILINGS,
    FLOPS,
    MOVED,
    PAIRS,
    PROBLEM,
    WITH_LEVELS,
    part,
    point,
    told,
)


def test_a_point_stands_at_its_flops_over_the_bytes_of_memory_and_of_the_cache() -> None:
    (spot,) = roofline([point("standard", 2.5, dram_read_bytes=5e9, l2_bytes=2e10)], {1: CEILINGS}).spots
    assert spot.tflops == pytest.approx(FLOPS / 2.5e9)
    assert list(spot.intensities[:2]) == pytest.approx([FLOPS / MOVED, FLOPS / 2e10])
    assert spot.intensities[2] is None
    assert [moved and moved.source for moved in (spot.dram, spot.l2)] == ["by formula", "by counters"]


def test_a_kernel_without_a_formula_of_tiles_has_no_second_intensity() -> None:
    (spot,) = roofline([point("torch-flash", 1.0)], {1: CEILINGS}).spots
    assert spot.l2 is None
    assert spot.intensities[0] is not None
    (unknown,) = roofline([point("own", 1.0)], {1: CEILINGS}).spots
    assert set(unknown.intensities) == {None}


def test_bytes_that_the_runtime_refutes_are_not_drawn() -> None:
    (spot,) = roofline([point("standard", MOVED / 4e9 / 2)], {1: CEILINGS}).spots
    assert spot.dram is None


def test_bytes_of_the_cache_that_the_runtime_refutes_are_not_drawn() -> None:
    moved = tile_io(point("flash3", 1.0)).value or 0
    rows = [point("flash3", moved / 7.5e9 / share) for share in (0.9, 1.2)]
    held, refuted = roofline(rows, {1: WITH_LEVELS}).spots
    assert held.l2 is not None
    assert refuted.l2 is None
    assert refuted.dram is not None


def test_under_the_rate_of_shared_memory_a_point_stands_at_its_bytes_there_too() -> None:
    (spot,) = roofline([point("flash2", 1.3)], {1: WITH_LEVELS}).spots
    moved = shared_bytes(point("flash2", 1.3))
    assert moved is not None
    assert spot.shared == moved
    assert spot.intensities[2] == pytest.approx(FLOPS / moved.nbytes)
    (before,) = roofline([point("flash2", 1.3)], {1: CEILINGS}).spots
    assert before.shared is None


def test_every_memory_whose_rate_was_measured_is_a_slope() -> None:
    roofs = {roof.key: roof.tflops for roof in roofline([point("flash3", 1.0)], {1: WITH_LEVELS}).roofs}
    assert [roofs[key] for key in (COPY, L2_READS, SHARED_READS)] == [4.0, 7.5, 32.0]


def test_the_ceilings_are_those_that_these_points_work_under() -> None:
    rows = [point("flash3", 1.0), point("flash3-fp8", 0.7), point("simt", 20.0)]
    roofs = {roof.key: roof.tflops for roof in roofline(rows, {1: CEILINGS}).roofs}
    assert roofs == {
        COPY: 4.0,
        matmul_key("bfloat16"): 800.0,
        matmul_key("float32"): 50.0,
        EXPONENTIALS: pytest.approx(4e12 * 4 * 128 / 1e12),
    }
    narrow = Problem(seqlen_q=64, seqlen_k=64, dtype="bfloat16")
    mixed = roofline([point("flash3", 1.0), point("flash3", 1.0, narrow)], {1: CEILINGS})
    assert EXPONENTIALS not in {roof.key for roof in mixed.roofs}


def test_where_v_has_a_width_of_its_own_its_product_is_counted_by_that() -> None:
    deepseek = structs.replace(PROBLEM, head_dim=192, head_dim_v=128)
    (spot,) = (found := roofline([point("flash3", 1.0, deepseek)], {1: CEILINGS})).spots
    products, roofs = part(spot.why, "products"), {roof.key: roof.tflops for roof in found.roofs}
    assert roofs[EXPONENTIALS] == pytest.approx(4e12 * 2 * (192 + 128) / 1e12)
    assert products.amount == 2 * (192 + 128) * PAIRS
    assert products.amount_source == "2·d and 2·d of V per kept pair"
    both = point("flash3", 1.0, structs.replace(deepseek, passes="both"))
    assert part(told(both), "products").amount_source == "8·d and 6·d of V per kept pair"
    assert part(told(point("flash3", 1.0)), "products").amount_source == "4·d per kept pair"


def test_each_point_is_held_against_the_ceilings_of_its_part_and_the_newest_are_drawn() -> None:
    slower = Ceilings(rates={COPY: CEILINGS.rates[COPY], EXPONENTIALS: CEILINGS.rates[EXPONENTIALS]})
    rows = [point("standard", 2.4), dataclasses.replace(point("flash3", 0.8), part=2)]
    found = roofline(rows, {1: CEILINGS, 2: slower})
    assert found.spots[0].why.binds == "bytes"
    assert found.spots[1].why.parts[0].missing == "it was not measured"
    assert {roof.key for roof in found.roofs} == {COPY, EXPONENTIALS}


def test_without_ceilings_the_copies_beside_the_points_are_the_slope() -> None:
    rows = [point("flash3", 1.0, copy_gbs=value) for value in (3.0, 4.0, 9.0)]
    (roof,) = roofline(rows, {}).roofs
    assert (roof.key, roof.rate, roof.source) == (COPY, 4.0, BESIDE)
    assert roofline([point("flash3", 1.0)], {}).roofs == ()


def test_a_point_that_is_not_done_has_no_place() -> None:
    failed = dataclasses.replace(point("flash3", 1.0), status="timeout")
    assert roofline([failed], {1: CEILINGS}).spots == ()
