"""What is drawn from type hints has every field, and values of every kind that a hint allows."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from flashscope.profiles.plan.plan import Plan
from tests.strategies import POSSIBLE, Drawn


class Inner(msgspec.Struct, frozen=True):
    name: str = ""


class Sort(msgspec.Struct, frozen=True):
    kind: Literal["a", "b"] = "a"
    number: float = 0.0
    count: Annotated[int, msgspec.Meta(gt=0, lt=10)] = 1
    short: Annotated[str, msgspec.Meta(max_length=2)] = ""
    maybe: int | None = None
    many: tuple[Inner, ...] = ()
    pair: tuple[bool, bytes] = (False, b"")
    table: dict[str, list[int]] = {}


WHOLE = Drawn().struct(Sort)
ANY_ONE = settings(
    max_examples=1000, phases=[Phase.generate], deadline=None, database=None
)  # the first found will do, and chance is to keep none away


@pytest.mark.parametrize("name", Sort.__struct_fields__)
def test_every_field_is_drawn_also_away_from_its_default(name: str) -> None:
    default = getattr(Sort(), name)
    assert getattr(find(WHOLE, lambda one: getattr(one, name) != default, settings=ANY_ONE), name) != default


@settings(max_examples=30, deadline=None)
@given(WHOLE)
def test_what_is_drawn_is_of_the_hinted_type(one: Sort) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(one), type=Sort).count in range(1, 10)


@pytest.mark.parametrize("odd", [math.isnan, math.isinf])
def test_a_plain_float_is_no_number_at_times(odd: Any) -> None:
    assert odd(find(WHOLE, lambda one: odd(one.number), settings=ANY_ONE).number)


def test_a_field_or_a_type_is_drawn_as_it_was_said() -> None:
    drawn = Drawn({Inner: st.just(Inner("x"))}, {(Sort, "maybe"): st.just(7)})
    one = find(drawn.struct(Sort, number=st.just(0.5)), lambda one: len(one.many) > 0, settings=ANY_ONE)
    assert (one.many[0], one.maybe, one.number) == (Inner("x"), 7, 0.5)


def test_a_type_that_nothing_is_known_of_is_refused() -> None:
    with pytest.raises(TypeError, match="complex"):
        Drawn().of(complex)


def test_nothing_is_drawn_from_modules_unless_a_profile_asks_for_more(pytestconfig: pytest.Config) -> None:
    assert bool(len(providers._get_local_constants())) == bool(pytestconfig.getoption("--hypothesis-profile"))


@pytest.mark.matrix
@settings(max_examples=20, deadline=None)
@given(Drawn(POSSIBLE).of(Plan))
def test_plans_are_possible(plan: Plan) -> None:
    assert plan.points()
