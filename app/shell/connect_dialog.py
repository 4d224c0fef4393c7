"""Where a user names the machine that everything of the window is to run on."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.far.devices import Devices
from flashscope.app.control.guard import guarded
from flashscope.app.control.settings import Settings
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.buttons import DialogButtons, text_button
from flashscope.app.widgets.plain import PlainLabel, plain_tip
from flashscope.app.words.plain import cut_short
from flashscope.profiles.cluster.connection import SUFFIX, connections_dir

TITLE = "Connect to another machine"
ABOUT = (
    "Paste, drop or browse for the connection file that serve made there, or name the address "
    "tls://HOST:PORT, or ssh://USER@MACHINE/FOLDER of a checkout."
)
WIDTH, LIST_PX = 560, 88
ROLE = Qt.ItemDataRole.UserRole


class ConnectDialog(QDialog):
    """Takes a file or an address, says how connecting goes, and closes once a device is in use.

    Args:
        devices: Connects.
        settings: Knows what was used lately.
        parent: The window.
        named: What is to be in the field at first; empty: what was used last.
    """

    def __init__(self, devices: Devices, settings: Settings, parent: QWidget, named: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(TITLE)
        self.setAcceptDrops(True)
        self._devices, self._settings = devices, settings
        self._make_parts(named)
        self._lay_out()
        devices.changed.connect(self._refresh)
        devices.told.connect(self._tell)
        devices.failed.connect(self._fail)
        devices.taken.connect(self.accept)
        self._refresh()
        width = min(px(WIDTH), parent.width())
        self.resize(width, self.heightForWidth(width))

    def _make_parts(self, named: str) -> None:
        self.field = QLineEdit(named or next(iter(self._settings.connections), ""))
        self.field.setAccessibleName("Connection file or address")
        self.field.setPlaceholderText("host.connection, tls://host:8786 or ssh://user@host/folder")
        self.field.selectAll()
        self.field.textChanged.connect(lambda _text: self._refresh())
        self.browse = text_button("Browse …", "Browse for a connection file", self._browse)
        self.browse.setAutoDefault(False)
        self.list = QListWidget()
        self.list.setAccessibleName("Connections that are known here, and those used lately")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        keep(self.list, self.list.setFixedHeight, LIST_PX)
        for named_before in self._known():
            item = QListWidgetItem(cut_short(_short(named_before)))
            item.setData(Qt.ItemDataRole.ToolTipRole, plain_tip(named_before))
            item.setData(ROLE, named_before)
            self.list.addItem(item)
        self.list.itemClicked.connect(self._name)
        self.list.itemActivated.connect(self._name)
        self.list.itemActivated.connect(self.begin)
        self.told = PlainLabel(wordWrap=True)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setRange(0, 0)
        self.bar.setAccessibleName("Connecting")
        keep(self.bar, self.bar.setFixedHeight, 6)
        self.buttons = DialogButtons(QDialogButtonBox.StandardButton.Cancel)
        self.connect_button = self.buttons.addButton("Connect", QDialogButtonBox.ButtonRole.AcceptRole)
        self.connect_button.setProperty("role", "primary")
        self.connect_button.setDefault(True)
        self.buttons.accepted.connect(self.begin)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.field, 1)
        row.addWidget(self.browse)
        about, known = PlainLabel(ABOUT, wordWrap=True), PlainLabel("Known here, and used lately")
        about.setProperty("role", "dim")
        known.setProperty("role", "caption")
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addWidget(about)
        column.addLayout(row)
        for listed in (known, self.list):
            listed.setVisible(self.list.count() > 0)
            column.addWidget(listed)
        for widget in (self.told, self.bar, self.buttons):
            column.addWidget(widget)
        column.addStretch(1)

    def _known(self) -> Iterator[str]:
        """What was used lately, then the connection files of this machine's folder."""
        files = map(str, sorted(connections_dir().glob(f"*{SUFFIX}")))
        yield from dict.fromkeys((*self._settings.connections, *files))

    def begin(self) -> None:
        """Connect to what the field names."""
        named = self.field.text().strip()
        if named and not self._devices.dialling:
            self._say("", "dim")
            self._devices.connect_to(named)

    @guarded()
    def reject(self) -> None:
        """Cancel what goes on, or else leave."""
        if self._devices.dialling:
            self._devices.cancel()
            self._say("Cancelled.", "dim")
        else:
            super().reject()

    @guarded()
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one local file."""
        if _file(event) is not None:
            event.acceptProposedAction()

    @guarded()
    def dropEvent(self, event: QDropEvent) -> None:
        """Name it in the field."""
        if (path := _file(event)) is not None:
            event.acceptProposedAction()
            self.field.setText(str(path))

    def _browse(self) -> None:
        kinds = f"Connection files (*{SUFFIX});;All files (*)"
        chosen, _ = QFileDialog.getOpenFileName(self, "Connection file", "", kinds)
        if chosen:
            self.field.setText(chosen)

    def _name(self, item: QListWidgetItem) -> None:
        self.field.setText(item.data(ROLE))

    def _refresh(self) -> None:
        busy = bool(self._devices.dialling)
        if busy:  # or the focus would go on to the list, or a second Return cancel
            self.setFocus()
        for widget in (self.field, self.browse, self.list):
            widget.setEnabled(not busy)
        self.connect_button.setEnabled(not busy and bool(self.field.text().strip()))
        self.bar.setVisible(busy)

    def _tell(self, text: str) -> None:
        self._say(text, "dim")

    def _fail(self, reason: str) -> None:
        self._say(reason, "error")
        self.field.setFocus()

    def _say(self, text: str, role: str) -> None:
        self.told.setProperty("role", role)
        self.told.style().polish(self.told)
        self.told.setText(text)
        self.resize(self.width(), max(self.height(), self.heightForWidth(self.width())))


def _short(named: str) -> str:
    """How a connection is listed: one that lies among this machine's by its name alone."""
    path = Path(named)
    return path.name if path.parent == connections_dir() else named


def _file(event: QDropEvent) -> Path | None:
    """The one local file that is dragged, None: it is something else."""
    urls = event.mimeData().urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
