"""The running order of a plan: who takes turns, what the seed shuffles, what is measured twice."""

from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol

KERNELS = ("standard", "flash1", "flash2")
protocols = st.builds(Protocol, interleave=st.booleans(), shuffle=st.booleans(), drift_check=st.booleans())


def plan(protocol: Protocol, problems: int = 4, seed: int = 0) -> Plan:
    lengths = [16 << i for i in range(problems)]
    return Plan(
        backend="cpu",
        kernels=KERNELS,
        problems=tuple(Problem(seqlen_q=n, seqlen_k=n) for n in lengths),
        protocol=protocol,
        seed=seed,
    )


@given(protocols, st.integers(1, 5), st.integers(0, 99))
def test_every_cell_is_measured_once_and_only_the_first_stage_again(
    protocol: Protocol, problems: int, seed: int
) -> None:
    of = plan(protocol, problems, seed)
    points, groups = of.points(), of.groups()
    assert [point.index for point in points] == [*range(len(points))]
    cells = {(point.kernel, point.problem) for point in points[: of.cells]}
    assert len(cells) == of.cells == len(KERNELS) * problems
    again = [(point.kernel, point.problem) for point in points[of.cells :]]
    checked = protocol.drift_check and len(groups) > 1
    assert again == ([(p.kernel, p.problem) for p in groups[0]] if checked else [])
    for group in groups:
        assert {point.problem for point in group} == {group[0].problem}
        assert len(group) == (len(KERNELS) if protocol.interleave else 1)


def test_the_order_is_as_listed_unless_it_is_shuffled_and_the_seed_decides_it() -> None:
    lengths = [group[0].problem.seqlen_q for group in plan(Protocol(drift_check=False), 5).groups()]
    assert lengths == sorted(lengths)
    shuffled = [plan(Protocol(shuffle=True), 5, seed).points() for seed in (0, 0, 1, 2)]
    assert shuffled[0] == shuffled[1]
    assert len(set(shuffled)) > 1


def test_a_plan_of_one_stage_has_nothing_to_drift_from() -> None:
    assert len(plan(Protocol(drift_check=True), 1).points()) == len(KERNELS)
