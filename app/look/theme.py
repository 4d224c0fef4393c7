"""Colours, sizes and fonts: the one place they come from."""

from dataclasses import dataclass

from app.look.contrast import mixed


@dataclass(frozen=True)
class Theme:
    """Colour tokens of one appearance, as #RRGGBB."""

    name: str
    bg: str
    panel: str
    raised: str
    line: str
    text: str
    dim: str
    grid: str
    accent: str
    ok: str
    warn: str
    error: str
    on_accent: str


DARK = Theme(
    name="dark",
    bg="#101317",
    panel="#171B21",
    raised="#1D222A",
    line="#2A313B",
    text="#E6EAF0",
    dim="#8C96A5",
    grid="#232A33",
    accent="#56B4E9",
    ok="#3FB68B",
    warn="#E0A030",
    error="#F0705A",
    on_accent="#0B1016",
)
LIGHT = Theme(
    name="light",
    bg="#F4F6F8",
    panel="#FFFFFF",
    raised="#EEF1F4",
    line="#D5DBE2",
    text="#1B2430",
    dim="#5C6875",
    grid="#E6EAEE",
    accent="#0072B2",
    ok="#1A7553",
    warn="#8F5E00",
    error="#B83A22",
    on_accent="#FFFFFF",
)
CONTRAST = Theme(
    name="contrast",
    bg="#000000",
    panel="#000000",
    raised="#14181D",
    line="#8C96A5",
    text="#FFFFFF",
    dim="#C6CEDA",
    grid="#3A424E",
    accent="#6FC7FF",
    ok="#5BE0AE",
    warn="#FFC24D",
    error="#FF8F7A",
    on_accent="#000000",
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, CONTRAST)}

# Sizes in logical pixels.
CARD_RADIUS = 8
CONTROL_RADIUS = 6
TEXT_PX = 13
CAPTION_PX = 11


LEGIBLE = 4.5  # contrast of text (WCAG 2.1, 1.4.3)
BRIGHTEST = {"dark": 10.0, "light": 9.0, "contrast": 12.0}  # contrast of a curve that no other is to outshine
Dash = tuple[float, ...]


@dataclass(frozen=True)
class Mark:
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

    def bright(self, theme: Theme) -> str:
        """The same hue, so that the curve outshines all others."""
        return mixed(self.on(theme), theme.text, THEMES[theme.name].panel, BRIGHTEST[theme.name])

    def ink(self, theme: Theme) -> str:
        """The same hue, so that text in it can be read."""
        return mixed(self.on(theme), theme.text, THEMES[theme.name].panel, LEGIBLE)


# Found by search: no two are less than 12 apart (CIEDE2000) for whom red, green or blue cones are missing.
_HUES = {
    "standard": ("#E4501C", "#D0702A"),
    "simt": ("#969696", "#8C8C8C"),
    "flash1": ("#E6B422", "#6B5710"),
    "flash2": ("#7F8CFF", "#2A48F0"),
    "flash3": ("#4CC3D9", "#1595E8"),
    "torch": ("#0A9463", "#00795A"),
    "flash-attn": ("#AC42A4", "#A8107F"),
}


def _mark(family: str, symbol: str, *dash: float) -> Mark:
    """A member of a family: the first has a whole line, its variants thinner ones in strokes."""
    colour, on_light = _HUES[family]
    return Mark(colour, symbol, on_light, width=1.4 if dash else 2.0, dash=dash)


KERNEL_MARKS = {
    "standard": _mark("standard", "o"),
    "standard-fp32s": _mark("standard", "ring", 6, 3),
    "fused": _mark("standard", "rows", 8, 3, 2, 3),
    "simt": _mark("simt", "t2"),
    "flash1": _mark("flash1", "s"),
    "flash2": _mark("flash2", "t1"),
    "flash3-a": _mark("flash3", "diamond-ring", 3, 3),
    "flash3-b": _mark("flash3", "diamond-half", 6, 3),
    "flash3-c": _mark("flash3", "diamond-slit", 12, 3),
    "flash3": _mark("flash3", "d"),
    "flash3-fp8": _mark("flash3", "diamonds", 8, 3, 2, 3),
    "torch-math": _mark("torch", "p", 8, 3, 2, 3),
    "torch-efficient": _mark("torch", "h", 3, 3),
    "torch-flash": _mark("torch", "star"),
    "torch-cudnn": _mark("torch", "t", 12, 3),
    "torch-auto": _mark("torch", "+", 6, 3),
    "flash-attn-4": _mark("flash-attn", "t3"),
}
OTHER_MARK = _mark("torch", "x", 2, 3)
M_COLOUR = "#CC79A7"  # the running maximum, on every page


def kernel_mark(name: str) -> Mark:
    """The mark of a kernel; those without one of their own share one."""
    return KERNEL_MARKS.get(name, OTHER_MARK)
