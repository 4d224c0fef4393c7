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
    off: str  # of what cannot be used now
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
    off="#8C96A5",
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
    off="#5C6875",
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
    off="#7F8998",
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
