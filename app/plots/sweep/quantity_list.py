"""The quantities to choose from: in groups, the main ones first, and searched as one types."""

from collections.abc import Iterator
from typing import get_args

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.widgets.pick_list import PickList
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.words.kinds import in_full
from flashscope.app.words.matching import match, nothing_found
from flashscope.profiles.results.quantities.quantity import Quantity, QuantityGroup
from flashscope.profiles.results.quantities.registry import QUANTITIES

GROUPS: tuple[QuantityGroup, ...] = get_args(QuantityGroup)
IN_SIGHT = (
    "runtime",
    "speed-up",
    "throughput",
    "footprint",
    "predicted",
    "max-error",
    "dram_bytes",
    "l2_bytes",
    "sm_clock_mhz",
    "energy_mj",
)
ON_SHOW, MORE = "on show", "more …"
SIZE = 300, 460  # pixels at 100 %: room for what is in sight


class QuantityList(QWidget):
    """A field to type into, and below it what fits.

    Signals:
        picked: This quantity is wanted, by its key (str).
    """

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown, self._whole = "", False
        self._keys: list[str] = []  # of the lines: a quantity's, MORE, or empty
        self.query = QLineEdit(placeholderText="Type a quantity")
        self.query.setAccessibleName("Quantity")
        self.list = PickList()
        self.list.setAccessibleName("Quantities")
        self.list.follow(self.query)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self.query)
        column.addWidget(self.list)
        self.query.textChanged.connect(self._fill)
        self.query.returnPressed.connect(self._pick)
        self.list.itemClicked.connect(lambda _item: self._pick())

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """What is in sight needs no scrolling, where the screen is as high."""
        return QSize(px(SIZE[0]), min(px(SIZE[1]), 2 * self.screen().availableGeometry().height() // 3))

    def begin(self, shown: str) -> None:
        """Offer the main ones and that of this key, which is on show."""
        self._shown, self._whole = shown, False
        self.query.clear()
        self._fill("")
        self.query.setFocus()

    def _fill(self, query: str) -> None:
        self.list.clear()
        self._keys = []
        if query.strip():
            self._list_found(query)
        else:
            self._list_groups()
        place = self._keys.index(self._shown) if self._shown in self._keys else 0
        self.list.setCurrentRow(0 if query.strip() else place)

    def _list_found(self, query: str) -> None:
        fits = [(match(query, quantity.title), quantity) for quantity in QUANTITIES.values()]
        ranked = sorted(((score, one) for score, one in fits if score is not None), key=lambda fit: fit[0])
        for _, quantity in ranked:
            self._add(quantity, quantity.group)
        if not ranked:
            self.list.add(nothing_found(query), usable=False)

    def _list_groups(self) -> None:
        for group in GROUPS:
            self._keys.append("")
            self.list.add_caption(group)
            for quantity in self._of(group):
                self._add(quantity)
        if not self._whole:
            self._keys.append(MORE)
            self.list.add(MORE)

    def _of(self, group: QuantityGroup) -> Iterator[Quantity]:
        """Those of a group that are in sight, in the order of the registry."""
        for key, quantity in QUANTITIES.items():
            if quantity.group == group and (self._whole or key in (*IN_SIGHT, self._shown)):
                yield quantity

    def _add(self, quantity: Quantity, aside: str = "") -> None:
        self._keys.append(quantity.key)
        item = self.list.add(quantity.title, ON_SHOW if quantity.key == self._shown else aside)
        item.setData(Qt.ItemDataRole.ToolTipRole, plain_tip(in_full(quantity)))

    def _pick(self) -> None:
        place = self.list.currentRow()
        key = self._keys[place] if 0 <= place < len(self._keys) else ""
        if key == MORE:
            self._whole = True
            self._fill("")
        elif key:
            self.picked.emit(key)
