"""Runs of one plan are one family, by their marks alone; every session is in exactly one family."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.families import Kinship, families

MARKS = st.none() | st.builds(
    RunMark, family=st.sampled_from("ab"), run=st.integers(1, 4), of=st.integers(1, 4)
)
KIN = st.builds(
    Kinship,
    mark=MARKS,
    id=st.sampled_from(["1", "2", "3"]),
    path=st.builds(Path, st.sampled_from("xy"), st.text("pq-1", min_size=1, max_size=4)),
)


def kin(run: int | None, path: str, id_: str = "", family: str = "a") -> Kinship:
    mark = None if run is None else RunMark(family=family, run=run, of=3)
    return Kinship(mark, id_ or path, Path(path))


def found(*members: Kinship) -> list[list[str]]:
    return [[str(one.path) for one in family.runs] for family in families(members, lambda one: one)]


@given(st.lists(KIN, unique_by=lambda one: one.path, max_size=12))
def test_every_session_is_in_exactly_one_family_and_no_run_is_in_one_twice(members: list[Kinship]) -> None:
    told = families(members, lambda one: one)
    assert Counter(one for family in told for one in family.runs) == Counter(members)
    for family in told:
        if family.key is None:
            assert len(family.runs) == 1
            continue
        assert len(family.runs) > 1
        assert len({one.id for one in family.runs}) == len(family.runs)
        assert {(str(one.path.parent), one.mark.family) for one in family.runs if one.mark} == {
            family.key[:2]
        }


@given(st.lists(KIN, unique_by=lambda one: one.path, max_size=12), st.randoms())
def test_in_whatever_order_sessions_come_they_are_the_same_families(
    members: list[Kinship], random: object
) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # a random.Random
    told, again = (
        {(family.key, family.runs) for family in families(some, lambda one: one)}
        for some in (members, shuffled)
    )
    assert told == again


def test_runs_stand_in_the_order_in_which_they_were_made_and_families_where_their_first_stood() -> None:
    assert found(kin(None, "z"), kin(2, "r-2"), kin(None, "y"), kin(1, "r-1")) == [
        ["z"],
        ["r-1", "r-2"],
        ["y"],
    ]


def test_sessions_of_one_plan_without_a_mark_are_no_family() -> None:
    assert found(kin(None, "r-1"), kin(None, "r-2")) == [["r-1"], ["r-2"]]


def test_copies_of_runs_are_a_family_of_their_own() -> None:
    runs = [kin(1, "r-1", "i"), kin(2, "r-2", "j")]
    copies = [kin(1, "r-1-2", "i"), kin(2, "r-2-2", "j")]
    assert found(*copies, *runs) == [["r-1-2", "r-2-2"], ["r-1", "r-2"]]


def test_a_run_whose_others_are_elsewhere_is_alone() -> None:
    (one,) = families([kin(1, "x/r-1")], lambda one: one)
    assert one.key is None
    assert found(kin(1, "x/r-1"), kin(2, "y/r-2")) == [["x/r-1"], ["y/r-2"]]
