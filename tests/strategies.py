"""Hypothesis strategies made from type hints, so that a struct's newest field is drawn by itself.

`of(hint)` knows the types that structs cross a process or enter a file with. What a struct checks by itself
cannot be read off its hints: `Drawn.hints` names a strategy for such a type, `fields` one for a single field.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from kernels.block_mask import BlockMask
from kernels.lengths import PAGE_SIZES
from kernels.problem import LARGEST_SCALE, PASSES, Problem
from profiles.plan.plan import Plan, Protocol

Hint = Any
Strategy = st.SearchStrategy[Any]

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(max_size=20)  # hypothesis draws none that UTF-8 cannot hold
MOST_ITEMS = 3  # of a tuple, list, set or dict

PLAIN: Mapping[Hint, Strategy] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: INT64,
    float: st.floats() | st.sampled_from([math.nan, math.inf, -math.inf]),  # often enough to count on
    str: TEXTS,
    bytes: st.binary(max_size=20),
}


@dataclass(frozen=True)
class Drawn:
    """How values are drawn.

    Attributes:
        hints: Strategies for types, in place of what their hints would give.
        fields: Strategies for single fields of structs, by struct and name.
    """

    hints: Mapping[Hint, Strategy] = field(default_factory=dict)
    fields: Mapping[tuple[type[msgspec.Struct], str], Strategy] = field(default_factory=dict)

    def of(self, hint: Hint) -> Strategy:
        """Values of a type.

        Raises:
            TypeError: No strategy is known for it.
        """
        for known in (self.hints, PLAIN):
            if hint in known:
                return known[hint]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self.struct(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        made = MADE.get(origin)
        if made is None:
            raise TypeError(f"no strategy is known for {hint}")
        return made(self, arguments)

    def struct(self, kind: type[msgspec.Struct], **given: Strategy) -> Strategy:
        """A struct with every one of its fields, those given drawn as given."""
        drawn = {
            one.name: self._field(kind, one) for one in msgspec.structs.fields(kind) if one.name not in given
        }
        return st.builds(kind, **drawn, **given)

    def _field(self, kind: type[msgspec.Struct], one: msgspec.structs.FieldInfo) -> Strategy:
        return self.fields[kind, one.name] if (kind, one.name) in self.fields else self.of(one.type)

    def _tuple(self, arguments: tuple[Hint, ...]) -> Strategy:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return self._list(arguments[:1]).map(tuple)
        return st.tuples(*map(self.of, arguments))

    def _list(self, arguments: tuple[Hint, ...]) -> Strategy:
        return st.lists(self.of(arguments[0]), max_size=MOST_ITEMS)

    def _dict(self, arguments: tuple[Hint, ...]) -> Strategy:
        return st.dictionaries(*map(self.of, arguments), max_size=MOST_ITEMS)

    def _union(self, arguments: tuple[Hint, ...]) -> Strategy:
        return st.one_of(*map(self.of, arguments))

    def _annotated(self, arguments: tuple[Hint, ...]) -> Strategy:
        values = self.of(arguments[0])
        for note in arguments[1:]:
            if isinstance(note, msgspec.Meta):
                values = _within(values, arguments[0], note)
        return values


MADE: Mapping[Hint, Callable[[Drawn, tuple[Hint, ...]], Strategy]] = {
    tuple: Drawn._tuple,
    list: Drawn._list,
    dict: Drawn._dict,
    Union: Drawn._union,
    UnionType: Drawn._union,
    Annotated: Drawn._annotated,
    Literal: lambda _, values: st.sampled_from(values),
}


def _within(values: Strategy, hint: Hint, meta: msgspec.Meta) -> Strategy:
    """Those of the values that keep the bounds of an annotation."""
    if hint is int:
        above = None if meta.gt is None else int(meta.gt) + 1
        below = None if meta.lt is None else int(meta.lt) - 1
        lowest = [int(bound) for bound in (-(2**63), meta.ge, above) if bound is not None]
        highest = [int(bound) for bound in (2**63 - 1, meta.le, below) if bound is not None]
        return st.integers(max(lowest), min(highest))

    def kept(value: Any) -> bool:
        try:
            msgspec.convert(value, Annotated[hint, meta])
        except msgspec.ValidationError:
            return False
        return True

    return values.filter(kept)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Workloads that are possible, small ones."""
    seqlen_q, seqlen_k, kv_heads, group, batch = draw(st.tuples(*[st.integers(1, 9)] * 5))
    page_size = draw(st.none() | st.sampled_from(PAGE_SIZES))
    passes, deterministic = draw(st.sampled_from([("forward", False), *product(PASSES[1:], (False, True))]))
    seqlen_k *= page_size or 1
    lengths = [
        st.none() | st.lists(st.integers(0, longest), min_size=batch, max_size=batch).map(tuple)
        for longest in (seqlen_q, seqlen_k)
    ]
    block_q, block_k = draw(st.tuples(*[st.integers(1, 9)] * 2))
    rows, columns = -(-seqlen_q // block_q), -(-seqlen_k // block_k)
    mask = Drawn().struct(
        BlockMask,
        block_q=st.just(block_q),
        block_k=st.just(block_k),
        shape=st.just((rows, columns)),
        kept=st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns).map(bytes),
    )
    even: dict[str, Strategy] = {"query_lengths": st.none(), "key_lengths": st.none(), "page_size": st.none()}
    layout = {
        "block_mask": st.none(),
        "query_lengths": lengths[0],
        "key_lengths": lengths[1],
        "page_size": st.just(page_size),
    }
    whole = even | {"block_mask": st.none() | mask} if page_size is None else layout
    problem: Problem = draw(
        Drawn().struct(
            Problem,
            seqlen_q=st.just(seqlen_q),
            seqlen_k=st.just(seqlen_k),
            batch=st.just(batch),
            heads=st.just(kv_heads * group),
            head_dim=st.integers(1, 512),
            scale=st.none() | st.floats(-LARGEST_SCALE, LARGEST_SCALE),
            seed=st.integers(0, 2**63 - 1),
            kv_heads=st.none() | st.just(kv_heads),
            window=st.none() | st.tuples(*[st.integers(-1, 2**62)] * 2),
            passes=st.just(passes),
            deterministic=st.just(deterministic),
            **draw(st.sampled_from((whole, layout))),
        )
    )
    return problem


def protocols() -> Strategy:
    """Protocols that are possible; their figures are finite."""
    above_0 = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
    finite = Drawn({float: st.floats(allow_nan=False, allow_infinity=False)})
    counts = st.integers(0, 2**31)
    return finite.struct(
        Protocol,
        warmup=counts,
        repeats=counts.map(lambda n: n + 1),
        time_cap_s=above_0,
        sustain_s=st.just(0.0) | above_0,
        deadline_s=above_0,
    )


def plans() -> Strategy:
    """Plans that are possible."""
    return Drawn({Protocol: protocols()}).struct(
        Plan,
        kernels=st.lists(TEXTS, unique=True, min_size=1, max_size=MOST_ITEMS).map(tuple),
        problems=st.lists(problems(), min_size=1, max_size=MOST_ITEMS).map(tuple),
    )


POSSIBLE: Mapping[Hint, Strategy] = {Problem: problems(), Protocol: protocols(), Plan: plans()}
"""Strategies for what a struct's hints do not tell, for `Drawn.hints`."""
