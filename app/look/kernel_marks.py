"""How kernels are told from one another on every page: colours of families, glyphs and dashes of members."""

from dataclasses import dataclass

from flashscope.app.look.contrast import mixed
from flashscope.app.look.theme import THEMES, Theme
from flashscope.kernels.catalogue.marks import Glyph, Hue, MarkSpec, Stroke
from flashscope.kernels.catalogue.registry import KERNELS, own_kernel

LEGIBLE = 4.5  # contrast of text (WCAG 2.1, 1.4.3)
Dash = tuple[float, ...]


@dataclass(frozen=True)
class KernelMark:
    """How one kernel is drawn on every page. A family has a colour, its members have glyphs and dashes.

    Attributes:
        colour: As #RRGGBB.
        symbol: One of pyqtgraph's or of app/plots/symbols.py.
        on_light: The colour where the panel is light.
        width: Of the curve, in pixels; thin for the variants of another kernel.
        dash: Of the curve: strokes and gaps in multiples of its width; none: a whole line.
    """

    colour: str
    symbol: str
    on_light: str
    width: float = 2.0
    dash: Dash = ()

    def on(self, theme: Theme) -> str:
        """The colour on a theme's panel."""
        return self.on_light if theme.name == "light" else self.colour

    def ink(self, theme: Theme) -> str:
        """The same hue, so that text in it can be read."""
        return mixed(self.on(theme), theme.text, THEMES[theme.name].panel, LEGIBLE)


# Found by search: no two are less than 12 apart (CIEDE2000) for whom red, green or blue cones are missing.
_HUES: dict[Hue, tuple[str, str]] = {
    "vermilion": ("#E4501C", "#D0702A"),
    "grey": ("#969696", "#8C8C8C"),
    "amber": ("#E6B422", "#6B5710"),
    "blue": ("#7F8CFF", "#2A48F0"),
    "cyan": ("#4CC3D9", "#1595E8"),
    "green": ("#0A9463", "#00795A"),
    "purple": ("#AC42A4", "#A8107F"),
    "rose": ("#FAD1D9", "#700032"),
}


_SYMBOLS: dict[Glyph, str] = {
    "circle": "o",
    "square": "s",
    "triangle-up": "t1",
    "triangle-down": "t",
    "triangle-left": "t3",
    "triangle-right": "t2",
    "diamond": "d",
    "pentagon": "p",
    "hexagon": "h",
    "plus": "+",
    "cross": "x",
}
"""Pyqtgraph's names of glyphs; the others have the same name there or in app/figures/shapes.py."""
_DASHES: dict[Stroke, Dash] = {
    "solid": (),
    "short": (3, 3),
    "medium": (6, 3),
    "long": (12, 3),
    "dash-dot": (8, 3, 2, 3),
    "dotted": (2, 3),
}


def _mark(spec: MarkSpec) -> KernelMark:
    """A member of a family: the first has a whole line, its variants thinner ones in strokes."""
    (colour, on_light), dash = _HUES[spec.hue], _DASHES[spec.stroke]
    symbol = _SYMBOLS.get(spec.glyph, spec.glyph)
    return KernelMark(colour, symbol, on_light, width=1.4 if dash else 2.0, dash=dash)


KERNEL_MARKS = {spec.name: _mark(spec.mark) for spec in KERNELS if spec.mark is not None}
OTHER_MARK = _mark(MarkSpec("green", "cross", "dotted"))
M_COLOUR = "#CC79A7"  # the running maximum, on every page


def kernel_mark(name: str) -> KernelMark:
    """The mark of a kernel, one of the user's own too; those without one of their own share one."""
    if name in KERNEL_MARKS:
        return KERNEL_MARKS[name]
    own = own_kernel(name)
    return _mark(own.mark) if own is not None and own.mark is not None else OTHER_MARK
