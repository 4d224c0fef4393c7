"""Colours, sizes and fonts: the one place they come from."""

from dataclasses import dataclass


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


@dataclass(frozen=True)
class Mark:
    """How one kernel is drawn on every page.

    Attributes:
        colour: Okabe-Ito, as #RRGGBB.
        symbol: One of pyqtgraph's or of app/plots/symbols.py.
        on_light: The colour where the panel is light and `colour` would stand out by less than 3:1.
        width: Of the curve, in pixels; thin for the variants of another kernel.
    """

    colour: str
    symbol: str
    on_light: str = ""
    width: float = 2.0

    def on(self, theme: Theme) -> str:
        """The colour on a theme's panel."""
        return self.on_light if self.on_light and theme.name == "light" else self.colour


def _flash3(symbol: str, width: float = 1.2) -> Mark:
    """The steps to flash3 and its variants share its colour and are diamonds."""
    return Mark("#56B4E9", symbol, on_light="#3A98D8", width=width)


KERNEL_MARKS = {
    "standard": Mark("#D55E00", "o"),
    "standard-fp32s": Mark("#D55E00", "ring", width=1.2),
    "fused": Mark("#A65628", "rows"),
    "simt": Mark("#7F7F7F", "t2"),
    "flash1": Mark("#E69F00", "s", on_light="#BD8200"),
    "flash2": Mark("#0072B2", "t1"),
    "flash3-a": _flash3("diamond-ring"),
    "flash3-b": _flash3("diamond-half"),
    "flash3-c": _flash3("diamond-slit"),
    "flash3": _flash3("d", width=2.0),
    "flash3-fp8": _flash3("diamonds"),
    # Library peers share a colour; the symbol tells them apart.
    "torch-math": Mark("#009E73", "p"),
    "torch-efficient": Mark("#009E73", "h"),
    "torch-flash": Mark("#009E73", "star"),
    "torch-cudnn": Mark("#009E73", "t"),
    "torch-auto": Mark("#009E73", "+"),
    "flash-attn-4": Mark("#009E73", "t3"),
}
OTHER_MARK = Mark("#009E73", "x")
M_COLOUR = "#CC79A7"  # the running maximum, on every page


def kernel_mark(name: str) -> Mark:
    """The mark of a kernel; those without one of their own share one."""
    return KERNEL_MARKS.get(name, OTHER_MARK)
