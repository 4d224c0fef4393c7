"""How a kernel is drawn wherever it is drawn, in words: whoever draws knows what they look like."""

from typing import Literal, NamedTuple

Hue = Literal["vermilion", "grey", "amber", "blue", "cyan", "green", "purple", "rose"]
Glyph = Literal[
    "circle",
    "ring",
    "rows",
    "columns",
    "square",
    "square-ring",
    "triangle-up",
    "triangle-down",
    "triangle-left",
    "triangle-right",
    "diamond",
    "diamond-ring",
    "diamond-half",
    "diamond-slit",
    "diamonds",
    "hourglass",
    "bow-tie",
    "pentagon",
    "hexagon",
    "star",
    "plus",
    "cross",
]
Stroke = Literal["solid", "short", "medium", "long", "dash-dot", "dotted"]


class MarkSpec(NamedTuple):
    """The mark of a kernel: a family shares the hue, its members have glyphs and strokes of their own.

    Attributes:
        hue: The colour family.
        glyph: The shape at a point.
        stroke: Of the curve; solid for a family's main kernel, which has the thicker one.
    """

    hue: Hue
    glyph: Glyph
    stroke: Stroke = "solid"


OWN_MARKS: tuple[MarkSpec, ...] = (
    MarkSpec("rose", "cross"),
    MarkSpec("rose", "square", "short"),
    MarkSpec("rose", "triangle-up", "long"),
    MarkSpec("rose", "diamond", "dash-dot"),
    MarkSpec("rose", "circle", "medium"),
    MarkSpec("rose", "pentagon", "dotted"),
)
"""Of kernels of the user's own, by their place in a plan: a hue that no kernel of the project's has."""
