"""How schemes of attention on several ranks are told from one another: colours no kernel has, and glyphs."""

from collections.abc import Mapping

from flashscope.app.look.contrast import mixed
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.theme import Theme
from flashscope.kernels.context_parallel.schemes import SCHEMES, Scheme

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": ("#D9A825", "#3F83D0", "#2A9F76", "#D080AE"),
    "light": ("#B37B00", "#1B5FA8", "#0B7A55", "#A8497F"),
    "contrast": ("#FFD23F", "#6FA8FF", "#43E6A4", "#FF9AD0"),
}
SYMBOLS: Mapping[Scheme, str] = dict(zip(SCHEMES, ("o", "s", "t1", "d"), strict=True))
GLYPHS: Mapping[Scheme, str] = dict(zip(SCHEMES, "●■▲◆", strict=True))
"""The symbols as characters, for legends."""


def scheme_colour(scheme: Scheme, theme: Theme) -> str:
    """The colour of a scheme's curve."""
    return _COLOURS[theme.name][SCHEMES.index(scheme)]


def scheme_ink(scheme: Scheme, theme: Theme) -> str:
    """The same hue, so that text in it can be read."""
    return mixed(scheme_colour(scheme, theme), theme.text, theme.panel, LEGIBLE)
