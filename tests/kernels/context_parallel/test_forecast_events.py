"""The model of n ranks beside a simulation, event by event, in which ranks wait for neighbours alone."""

import heapq
from collections import defaultdict
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flashscope.kernels.context_parallel import forecast as model
from flashscope.kernels.context_parallel.forecast import RankRates, balance_limit, forecast
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, RankStep, Scheme, sent_bytes
from flashscope.kernels.workload.problem import Passes, Problem
from tests.kernels.context_parallel.running import partitions

PASSES = st.sampled_from(["forward", "backward"])
RATES = st.builds(
    RankRates,
    flops_s=st.floats(1e3, 1e12),
    link_bytes_s=st.floats(1e3, 1e12),
    product_start_s=st.sampled_from([0.0, 1e-6, 1e-2]),
    transfer_start_s=st.sampled_from([0.0, 1e-6, 1e-2]),
    alone_flops_s=st.none(),
)


def steps_of(partition: Partition, passes: Passes) -> list[tuple[RankStep, ...]]:
    return [getattr(partition, passes)(rank) for rank in range(partition.ranks)]


def product_s(partition: Partition, rank: int, step: RankStep, rates: RankRates, passes: Passes) -> float:
    """4 d a pair forward, and 10 d backward, for each head that the rank has."""
    problem = partition.problem
    heads = len(partition.head_share(rank).heads) * problem.batch
    operations = {"forward": 4, "backward": 10}[passes] * problem.head_dim * heads * step.pairs
    return len(step.blocks) * rates.product_start_s + operations / rates.flops_s


def simulated(partition: Partition, rates: RankRates, passes: Passes) -> float:
    """When the last rank is done: each begins a step when its own is over and all that it was sent is there.

    Two units of a rank run at once, what computes and the link on which it sends; the events are their ends.
    """
    steps = steps_of(partition, passes)
    awaited: defaultdict[tuple[int, int], int] = defaultdict(
        int
    )  # by rank and step: what it cannot begin without
    for number, of_ranks in enumerate(zip(*steps, strict=True)):
        for rank, step in enumerate(of_ranks):
            awaited[rank, number + 1] += 2
            for one in step.transfers:
                awaited[one.to, number + 1] += 1
    events: list[tuple[float, int, int]] = []  # when, of which rank one thing less is awaited, for which step

    def begin(now: float, rank: int, number: int) -> None:
        step = steps[rank][number]
        link = now + (rates.transfer_start_s if step.transfers else 0.0)
        for one in step.transfers:
            link += one.nbytes / rates.link_bytes_s
            heapq.heappush(events, (link, one.to, number + 1))
        for end in (link, now + product_s(partition, rank, step, rates, passes)):
            heapq.heappush(events, (end, rank, number + 1))

    for rank in range(partition.ranks):
        begin(0.0, rank, 0)
    now = 0.0
    while events:
        now, rank, number = heapq.heappop(events)
        awaited[rank, number] -= 1
        if not awaited[rank, number] and number < len(steps[rank]):
            begin(now, rank, number)
    assert not any(awaited.values())
    return now


@given(partitions(), RATES, PASSES)
def test_ranks_that_wait_for_neighbours_alone_are_never_slower_than_the_model(
    partition: Partition, rates: RankRates, passes: Passes
) -> None:
    found = forecast(partition, rates, passes).seconds
    assert simulated(partition, rates, passes) <= found * (1 + 1e-9)


@given(st.sampled_from(SCHEMES), st.integers(1, 8), st.integers(1, 9), RATES, PASSES)
def test_where_all_ranks_do_alike_the_model_is_the_simulation(
    scheme: Scheme, ranks: int, rows: int, rates: RankRates, passes: Passes
) -> None:
    length, causal = 2 * ranks * rows, scheme != "ring"
    problem = Problem(seqlen_q=length, seqlen_k=length, heads=2 * ranks, head_dim=16, causal=causal)
    partition = Partition(scheme, problem, ranks)
    assert simulated(partition, rates, passes) == pytest.approx(forecast(partition, rates, passes).seconds)


@given(st.integers(1, 8), st.integers(1, 9), RATES)
def test_a_causal_ring_whose_links_are_fast_ends_with_its_last_rank_as_the_model_says(
    ranks: int, rows: int, rates: RankRates
) -> None:
    problem = Problem(seqlen_q=ranks * rows, seqlen_k=ranks * rows, heads=2, head_dim=16, causal=True)
    partition = Partition("ring", problem, ranks)
    fast = rates._replace(link_bytes_s=1e30, transfer_start_s=0.0)
    found = forecast(partition, fast, "forward").seconds
    assert simulated(partition, fast, "forward") == pytest.approx(found)


@given(partitions(), RATES, PASSES)
def test_the_model_lies_between_the_slowest_rank_and_everything_one_after_the_other(
    partition: Partition, rates: RankRates, passes: Passes
) -> None:
    found = forecast(partition, rates, passes)
    steps = steps_of(partition, passes)
    products = [
        sum(product_s(partition, rank, step, rates, passes) for step in of_rank)
        for rank, of_rank in enumerate(steps)
    ]
    links = [
        sent_bytes(of_rank) / rates.link_bytes_s
        + rates.transfer_start_s * sum(bool(step.transfers) for step in of_rank)
        for of_rank in steps
    ]
    least = max(*products, *links)
    assert found.seconds >= least * (1 - 1e-9)
    assert found.seconds <= (sum(products) + sum(links)) * (1 + 1e-9)
    assert 0 <= found.exposed_s <= found.seconds * (1 + 1e-9)
    assert found.efficiency <= balance_limit(partition) * (1 + 1e-9)


@given(partitions(), RATES, PASSES, st.floats(1, 1e3))
def test_no_rate_that_rises_makes_ranks_slower_and_no_start_that_grows_makes_them_faster(
    partition: Partition, rates: RankRates, passes: Passes, times: float
) -> None:
    def seconds(changed: RankRates) -> float:
        return forecast(partition, changed, passes).seconds * (1 + 1e-9)

    before = forecast(partition, rates, passes).seconds
    assert before <= seconds(rates._replace(flops_s=rates.flops_s / times))
    assert before <= seconds(rates._replace(link_bytes_s=rates.link_bytes_s / times))
    assert before <= seconds(rates._replace(product_start_s=rates.product_start_s * times + 1e-9))
    assert before <= seconds(rates._replace(transfer_start_s=rates.transfer_start_s * times + 1e-9))


@given(partitions(), RATES, PASSES)
def test_one_rank_takes_as_long_as_one_gpu(partition: Partition, rates: RankRates, passes: Passes) -> None:
    alone = Partition(partition.scheme, partition.problem, 1)
    assert forecast(alone, rates, passes).efficiency == pytest.approx(1)


MANY = st.builds(
    lambda scheme, ranks, chunks, causal: Partition(
        scheme,
        Problem(seqlen_q=2 * ranks * chunks[0], seqlen_k=2 * ranks * chunks[1], head_dim=16, causal=causal),
        ranks,
    ),
    st.sampled_from(SCHEMES[:3]),
    st.integers(17, 24),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.booleans(),
)


@settings(max_examples=20)  # each walks all pairs of ranks
@example(
    Partition("zigzag", Problem(seqlen_q=68, seqlen_k=204, head_dim=16, causal=True), 17),
    RankRates(flops_s=1e6, link_bytes_s=1e12),
    "forward",
)
@given(MANY, RATES, PASSES)
def test_of_many_ranks_those_that_are_looked_at_stand_for_all(
    partition: Partition, rates: RankRates, passes: Passes
) -> None:
    with mock.patch.object(model, "OF_ALL", partition.ranks):
        every, limit = forecast(partition, rates, passes), balance_limit(partition)
    assert forecast(partition, rates, passes).seconds == pytest.approx(every.seconds)
    assert balance_limit(partition) == pytest.approx(limit)
