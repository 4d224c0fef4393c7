"""Hypothesis strategies made from type hints, so that a struct's newest field is drawn by itself.

`of(hint)` knows the types that structs cross a process or enter a file with. What a struct checks by itself
cannot be read off its hints: `Drawn.hints` names a strategy for such a type, `fields` one for a single field.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import LARGEST_SCALE, PASSES, Problem
from flashscope.kernels.workload.scoring import SOFTCAPS
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.wire.events import TelemetryStarted

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
        return st.fixed_dictionaries({**self.fields_of(kind, without=given), **given}).map(
            lambda values: kind(**values)
        )

    def fields_of(self, kind: type[msgspec.Struct], without: Collection[str] = ()) -> dict[str, Strategy]:
        """Strategies for the fields of a struct, but for some."""
        fields = msgspec.structs.fields(kind)
        return {one.name: self._field(kind, one) for one in fields if one.name not in without}

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


SIZES = st.tuples(*[st.integers(1, 9)] * 7)
PAGES = st.none() | st.sampled_from(PAGE_SIZES)
EACH_PASS = st.sampled_from([("forward", False), *product(PASSES[1:], (False, True))])
BESIDE_ITS_SHAPE = st.fixed_dictionaries(
    Drawn().fields_of(BlockMask, without=("block_q", "block_k", "shape", "kept"))
)
BESIDE_ITS_SIZES = st.fixed_dictionaries(
    Drawn().fields_of(
        Problem,
        without=(
            *("seqlen_q", "seqlen_k", "batch", "heads", "kv_heads", "passes", "deterministic", "sinks"),
            *("block_mask", "query_lengths", "key_lengths", "page_size"),
        ),
    )
    | {
        "head_dim": st.integers(1, 512),
        "head_dim_v": st.none() | st.integers(1, 512),
        "scale": st.none() | st.floats(-LARGEST_SCALE, LARGEST_SCALE),
        "softcap": st.none() | st.floats(*SOFTCAPS),
        "seed": st.integers(0, 2**63 - 1),
        "window": st.none() | st.tuples(*[st.integers(-1, 2**62)] * 2),
    }
)
"""What depends on nothing else is made once: to make a strategy takes longer than to draw from it."""


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Workloads that are possible, small ones."""
    seqlen_q, keys, kv_heads, group, batch, block_q, block_k = draw(SIZES)
    page_size = draw(PAGES)
    seqlen_k = keys * (page_size or 1)
    passes, deterministic = draw(EACH_PASS)
    layout: dict[str, Any]
    if page_size is None and draw(st.booleans()):
        rows, columns = -(-seqlen_q // block_q), -(-seqlen_k // block_k)
        layout = {"block_mask": draw(st.none() | _masks(block_q, block_k, rows, columns))}
    else:
        layout = {
            "query_lengths": draw(_lengths(seqlen_q, batch)),
            "key_lengths": draw(_lengths(seqlen_k, batch)),
            "page_size": page_size,
        }
    keyless = 0 in (layout.get("key_lengths") or ())
    return Problem(
        sinks=draw(st.booleans()) and not keyless,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        batch=batch,
        heads=kv_heads * group,
        kv_heads=draw(st.sampled_from((None, kv_heads))),
        passes=passes,
        deterministic=deterministic,
        **layout,
        **draw(BESIDE_ITS_SIZES),
    )


@cache
def _lengths(longest: int, batch: int) -> Strategy:
    return st.none() | st.lists(st.integers(0, longest), min_size=batch, max_size=batch).map(tuple)


@cache
def _masks(block_q: int, block_k: int, rows: int, columns: int) -> Strategy:
    kept = st.binary(min_size=rows * columns, max_size=rows * columns)
    return st.tuples(BESIDE_ITS_SHAPE, kept).map(
        lambda drawn: BlockMask(
            block_q=block_q,
            block_k=block_k,
            shape=(rows, columns),
            kept=bytes(byte & 1 for byte in drawn[1]),
            **drawn[0],
        )
    )


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


def own_kernels() -> Strategy:
    """What files of the user's own may declare."""
    drawn = Drawn().struct(
        OwnKernel,
        name=st.integers(0, 99).map("own.{}".format),
        path=st.just("~/kernels/own.py"),
        sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
        function=st.just("attend"),
        launches=st.just(()),
        backends=st.just(("cuda", "cpu")),
        dtypes=st.just(("float32",)),
        head_dims=st.lists(st.integers(1, 512), max_size=MOST_ITEMS).map(tuple),
        length_multiple=st.integers(1, 512),
    )
    return st.lists(drawn, max_size=MOST_ITEMS, unique_by=lambda one: one.name).map(tuple)


def plans() -> Strategy:
    """Plans that are possible."""
    return Drawn({Protocol: protocols()}).struct(
        Plan,
        own=own_kernels(),
        kernels=st.lists(TEXTS, unique=True, min_size=1, max_size=MOST_ITEMS).map(tuple),
        problems=st.lists(problems(), min_size=1, max_size=MOST_ITEMS).map(tuple),
        seed=st.integers(0, 2**63 - 1),
    )


def others_watched() -> Strategy:
    """What watches the other devices of several; no more devices stand beside one of these."""
    finite = {float: st.floats(allow_nan=False, allow_infinity=False)}
    watched = Drawn(finite, {(TelemetryStarted, "others"): st.just(())}).struct(TelemetryStarted)
    return st.lists(st.none() | watched, max_size=MOST_ITEMS).map(tuple)


POSSIBLE: Mapping[Hint, Strategy] = {
    Problem: problems(),
    Protocol: protocols(),
    Plan: plans(),
    tuple[OwnKernel, ...]: own_kernels(),
    tuple[TelemetryStarted | None, ...]: others_watched(),
}
"""Strategies for what a struct's hints do not tell, for `Drawn.hints`."""
