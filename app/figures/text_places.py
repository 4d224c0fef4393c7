"""Texts beside points, moved apart so that none stands on another; no Qt."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

TOUCH = 1e-6  # of a pixel


class Shared(NamedTuple):
    """A text that names one thing or several.

    Attributes:
        members: Which of the texts, the most important first.
        at: Its middle.
    """

    members: tuple[int, ...]
    at: float


def spread_texts(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float] | None:
    """Places at least a gap apart, between two ends, each as near to the wanted one as its neighbours let it.

    Runs of texts that would stand on one another move as one block around the mean of what they want: the
    least squares under the order (Barlow et al., Statistical Inference under Order Restrictions, 1972).

    Args:
        wanted: Middles of the texts, in any order.
        gap: The least distance between two middles.
        low: The least middle.
        high: The largest middle.

    Returns:
        In the order of `wanted`; None: there is no room for all.
    """
    if gap * (len(wanted) - 1) > high - low:
        return None
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[tuple[float, int]] = []  # the first place of a block, and how many stand in it
    for index in order:
        first, count = min(max(wanted[index], low), high), 1
        while blocks and blocks[-1][0] + gap * blocks[-1][1] > first:
            above, many = blocks.pop()
            first = (above * many + (first - gap * many) * count) / (many + count)
            count += many
            first = min(max(first, low), high - gap * (count - 1))
        blocks.append((first, count))
    placed = [first + gap * k for first, count in blocks for k in range(count)]
    found = dict(zip(order, placed, strict=True))
    return [found[index] for index in range(len(wanted))]


def share_texts(wanted: Sequence[float], gap: float, low: float, high: float, far: float) -> list[Shared]:
    """Places of texts near what they name; neighbours that have no room of their own share one.

    As long as a text would stand too far from what it names, the two nearest to one another of those that
    push it there become one; of pairs that are as near those become one that are less important.

    Args:
        wanted: Middles of the texts, the most important first.
        gap: As in `spread_texts`.
        low: As in `spread_texts`.
        high: As in `spread_texts`.
        far: The farthest that a text may stand from where it is wanted.
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    groups = [[index] for index in order]
    while len(groups) > 1:
        places = [_middle(group, wanted) for group in groups]
        found = spread_texts(places, gap, low, high)
        crowd = range(len(groups)) if found is None else _crowd(places, found, gap, far)
        pairs = [k for k in crowd if k + 1 in crowd]
        if not pairs:
            break
        one = min(pairs, key=partial(_loss, groups, places))
        groups[one : one + 2] = [sorted(groups[one] + groups[one + 1])]
    placed = spread_texts([_middle(group, wanted) for group in groups], gap, low, high) or []
    return [Shared(tuple(group), at) for group, at in zip(groups, placed, strict=bool(placed))]


def _middle(group: Sequence[int], wanted: Sequence[float]) -> float:
    return sum(wanted[index] for index in group) / len(group)


def _crowd(wanted: Sequence[float], placed: Sequence[float], gap: float, far: float) -> range:
    """Those next to one another that push a text too far from its place; both from low to high."""
    off = [abs(at - place) for at, place in zip(placed, wanted, strict=True)]
    first = last = off.index(max(off))
    if off[first] <= far:
        return range(0)
    while first and placed[first] - placed[first - 1] < gap + TOUCH:
        first -= 1
    while last + 1 < len(placed) and placed[last + 1] - placed[last] < gap + TOUCH:
        last += 1
    return range(first, last + 1)


def _loss(groups: Sequence[Sequence[int]], places: Sequence[float], one: int) -> tuple[int, int]:
    """What is lost where a group and the next become one: how far apart they are, and how important."""
    return round(places[one + 1] - places[one]), -min(groups[one][0], groups[one + 1][0])
