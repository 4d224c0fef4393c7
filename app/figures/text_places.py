"""Texts beside points, moved apart so that none stands on another; no Qt."""

from collections.abc import Sequence

PlacedTexts = dict[int, float]


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


def place_texts(wanted: Sequence[float], gap: float, low: float, high: float, far: float) -> PlacedTexts:
    """As many of the texts as can stand near what they name, the first ones first.

    Args:
        wanted: Middles of the texts, the most important first.
        gap: As in `spread_texts`.
        low: As in `spread_texts`.
        high: As in `spread_texts`.
        far: The farthest that a text may stand from where it is wanted.
    """
    chosen: list[int] = []
    placed: PlacedTexts = {}
    for index, place in enumerate(wanted):
        if not low - gap <= place <= high + gap:
            continue
        tried = [*chosen, index]
        found = spread_texts([wanted[one] for one in tried], gap, low, high)
        if found is not None and all(
            abs(at - wanted[one]) <= far for one, at in zip(tried, found, strict=True)
        ):
            chosen, placed = tried, dict(zip(tried, found, strict=True))
    return placed
