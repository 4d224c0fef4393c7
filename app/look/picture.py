"""How a picture of a session is to look, in a file."""

from dataclasses import dataclass

from flashscope.app.look.theme import LIGHT

SCALE = 2  # PNG pixels for each pixel of the screen, unless another scale is asked for


@dataclass(frozen=True)
class PictureOptions:
    """What a picture shows and how.

    Attributes:
        plot: Key of a quantity; empty: the four that the page shows at first.
        curve: Label of the problems on show, see Curve; empty: the first there are.
        scale: PNG pixels for each pixel of the screen, 1 to 4.
        theme: Key of THEMES.
        transparent: Whether there is no ground.
    """

    plot: str = ""
    curve: str = ""
    scale: int = SCALE
    theme: str = LIGHT.name
    transparent: bool = False
