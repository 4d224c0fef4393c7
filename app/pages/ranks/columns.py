"""The table of passes on several ranks: the columns of what `ranks` prints."""

from collections.abc import Callable, Sequence

from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.words.ranks import HEADINGS, pass_cells
from flashscope.profiles.results.model.ranks import RanksPass

SHOWN = tuple(title for title in HEADINGS if title not in {"ranks", "product", "speed-up"})
"""What the box over the plots, the lanes and the efficiency say is left out."""
WIDTHS = (192, 60, 78, 78, 78, 108, 82, 82, 96, 118, 52, 136)
WORDS = (HEADINGS[0], "errors", "share of what passes")


def pass_columns() -> Sequence[ListColumn[RanksPass]]:
    """A column for each heading that is shown."""
    return tuple(ListColumn(title, _cell(HEADINGS.index(title)), right=title not in WORDS) for title in SHOWN)


def _cell(place: int) -> Callable[[RanksPass], str]:
    return lambda one: pass_cells(*one)[place]
