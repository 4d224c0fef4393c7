"""What draws a figure asks for room to draw it in, and on a stage takes the room there is."""

from typing import TYPE_CHECKING

from flashscope.app.control.guard import guarded

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as Base
else:
    Base = object  # Qt makes no widget of two bases that are both widgets


class Yielding(Base):
    """A widget that asks for a least size unless it is to take the room there is; goes before its Qt base."""

    _yields = False
    _least = 0, 0  # pixels that it asks for unless it yields

    def take_any_room(self, yields: bool) -> None:
        """Take the room there is, as on a stage where nothing scrolls, or ask for enough."""
        self._yields = yields
        super().setMinimumSize(*((1, 1) if yields else self._least))

    @property
    def yields(self) -> bool:
        """Whether it takes the room there is, as on a stage."""
        return self._yields

    @guarded()
    def setMinimumSize(self, width: int, height: int) -> None:  # type: ignore[override] # nobody gives it a QSize
        """Ask for so many pixels, unless it is to take the room there is."""
        self._least = width, height
        if not self._yields:
            super().setMinimumSize(width, height)

    @guarded()
    def setMinimumHeight(self, height: int) -> None:
        """Ask for so many pixels, unless it is to take the room there is."""
        self.setMinimumSize(self._least[0], height)

    def let_go(self) -> None:
        """Point at nothing any more, as the pointer has left; this class points at nothing."""
