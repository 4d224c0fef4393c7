"""What the mask allows n ranks, by its formula and by the schemes; and a model of what they reach."""

import pytest
from hypothesis import given

from flashscope.kernels.context_parallel.forecast import RankRates, balance_limit, forecast
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme
from flashscope.kernels.workload.problem import Passes, Problem
from tests.kernels.context_parallel.running import partitions

ENDLESS = RankRates(flops_s=1e12, link_bytes_s=1e30)
H100 = RankRates(flops_s=6e14, link_bytes_s=3.5e11, product_start_s=5e-6, transfer_start_s=1e-5)


def square(seqlen: int, *, causal: bool = True) -> Problem:
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=16, head_dim=128, dtype="bfloat16", causal=causal)


@pytest.mark.parametrize("ranks", range(1, 9))
def test_the_contiguous_causal_ring_reaches_n_over_2n_minus_1(ranks: int) -> None:
    chunk = 512
    limit = balance_limit(Partition("ring", square(chunk * ranks), ranks))
    assert limit == pytest.approx((chunk * ranks + 1) / ((2 * ranks - 1) * chunk + 1))
    assert limit == pytest.approx(ranks / (2 * ranks - 1), rel=2e-3)


def test_on_two_ranks_that_is_two_thirds() -> None:
    assert balance_limit(Partition("ring", square(1 << 18), 2)) == pytest.approx(2 / 3, abs=1e-5)


@pytest.mark.parametrize("scheme", ["zigzag", "all-gather", "ulysses"])
@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_the_other_schemes_are_balanced(scheme: Scheme, ranks: int) -> None:
    assert balance_limit(Partition(scheme, square(1024), ranks)) == pytest.approx(1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_a_mask_all_are_balanced(scheme: Scheme) -> None:
    assert balance_limit(Partition(scheme, square(1024, causal=False), 8)) == pytest.approx(1)


@given(partitions())
def test_with_links_that_take_no_time_a_model_reaches_no_more_than_the_limit(partition: Partition) -> None:
    if partition.problem.all_kept_pairs:
        assert forecast(partition, ENDLESS, "forward").efficiency <= balance_limit(partition) + 1e-9


@pytest.mark.parametrize("passes", ["forward", "backward"])
@pytest.mark.parametrize("ranks", [8, 64, 512])
def test_longer_sequences_hide_more_of_the_transfers(passes: Passes, ranks: int) -> None:
    found = [forecast(Partition("zigzag", square(n), ranks), H100, passes) for n in (1 << 17, 1 << 20)]
    assert 0 < found[0].efficiency < found[1].efficiency < 1


def test_a_slow_link_is_exposed_to_the_byte() -> None:
    partition = Partition("ring", square(4096, causal=False), 2)
    slow = RankRates(flops_s=1e30, link_bytes_s=1e6)
    found = forecast(partition, slow, "forward")
    of_a_rank = 2 * 2048 * 16 * 128 * 2  # K and V, tokens, heads, head dim, bytes
    assert found.exposed_s == pytest.approx(of_a_rank / 1e6)


def test_all_gather_hides_nothing() -> None:
    found = forecast(Partition("all-gather", square(1 << 16), 8), H100, "forward")
    sent = 7 * 2 * (1 << 13) * 16 * 128 * 2
    assert found.exposed_s == pytest.approx(sent / H100.link_bytes_s + H100.transfer_start_s)


def test_one_gpu_that_is_faster_than_the_blocks_lowers_what_n_reach() -> None:
    partition = Partition("zigzag", square(1 << 18), 8)
    blocks, faster = (
        forecast(partition, rates, "forward") for rates in (H100, H100._replace(alone_flops_s=1.2e15))
    )
    assert faster.seconds == blocks.seconds
    assert faster.efficiency == pytest.approx(blocks.efficiency / 2, rel=1e-3)
