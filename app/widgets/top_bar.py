"""The top bar: menu, backend, provenance, Resume, Cancel and Run."""

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QMenu, QWidget

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.resuming import resumable
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.buttons import ICON_PX, icon_button, recolour, size_icon, text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import plain_tip, set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.sessions import named
from flashscope.kernels.workload.problem import Backend

REPLAY = "replay"
RUN, RUN_ROOMY = "Run", "Run  Ctrl+⏎"
RESUME_TIP = "Measure what is left of this session's plan, in its file"
ROOMY, BRANDED = (
    700,
    560,
)  # pixels: a narrower bar names no keys, then not the program, so the badge can be read
NARROWEST = 90  # pixels of the backend box, which ends in an ellipsis then
WIDEST = 260  # pixels of the backend box: a long file name must not push the badge away


class TopBar(QFrame):
    """The bar at the top of the window: the backend, where the figures come from, Run and Cancel.

    Signals:
        home_requested: Show the start page.
    """

    home_requested = Signal()

    def __init__(
        self, controller: Controller, registry: ActionRegistry, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self._controller, self._registry = controller, registry
        self._menu_button = icon_button("mdi6.menu", "Menu", self._open_menu)
        self.home = text_button("Flashscope", "Start page", self.home_requested.emit, "brand")
        does(self.home, "page.start")
        self.backend = DropDown()
        self.backend.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        keep(self.backend, self.backend.setMinimumWidth, NARROWEST)
        keep(self.backend, self.backend.setMaximumWidth, WIDEST)
        self.backend.setAccessibleName("Backend")
        set_tip(self.backend, "Where the next sweep runs, on this machine")
        self.backend.activated.connect(self._choose)
        self.badge = Badge()
        self._blocked = ""
        self.cancel = text_button("Cancel", "Cancel the sweep", lambda: self._trigger("cancel"))
        self.resume = text_button("Resume", RESUME_TIP, lambda: self._trigger("resume"))
        self.run = text_button(RUN_ROOMY, "Run the sweep", lambda: self._trigger("run"), "primary")
        for key, button in (("cancel", self.cancel), ("resume", self.resume), ("run", self.run)):
            does(button, key)
        self.run.setProperty("iconName", "mdi6.play")
        size_icon(self.run, ICON_PX)
        self._lay_out()
        self._follow(controller)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 16, 6)
        row.setSpacing(8)
        for widget in (self._menu_button, self.home, self.backend, self.badge):
            row.addWidget(widget, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        row.addWidget(self.resume)
        row.addWidget(self.cancel)
        row.addWidget(self.run)
        keep(self, self._share_room)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for the badge."""
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        roomy = self.width() >= px(ROOMY)
        self.run.setText(RUN_ROOMY if roomy else RUN)
        self.home.setVisible(self.width() >= px(BRANDED))

    def _follow(self, controller: Controller) -> None:
        for signal in (
            controller.machine_found,
            controller.session_changed,
            controller.running_changed,
            controller.occupied_changed,
            controller.backend_changed,
            controller.path_found,
        ):
            signal.connect(lambda _value: self.refresh())
        self.refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Draw icons and badge in a theme's colours."""
        recolour(self._menu_button, theme)
        recolour(self.run, theme, theme.on_accent)
        self.badge.apply_theme(theme)

    def menu(self) -> QMenu:
        """All actions, one submenu a group."""
        menu = QMenu(self)
        for group, actions in self._registry.groups().items():
            submenu = menu.addMenu(group)
            for action in actions:
                qaction = self._registry.find(action.key)
                if qaction is not None:
                    submenu.addAction(qaction)
        return menu

    def block_run(self, reason: str) -> None:
        """Disable Run and say why in its tooltip; an empty reason enables it."""
        self._blocked = reason
        self.refresh()

    def refresh(self) -> None:
        """Show the controller's state as it is now."""
        controller = self._controller
        self.badge.show_provenance(controller.provenance)
        blocked = controller.occupied or self._blocked
        self.run.setEnabled(not controller.running and not blocked)
        set_tip(self.run, blocked or "Run the sweep")
        self.cancel.setEnabled(controller.running)
        self.resume.setVisible(resumable(controller))
        self.resume.setEnabled(not controller.occupied)
        set_tip(self.resume, controller.occupied or RESUME_TIP)
        self.cancel.setVisible(self.resume.isHidden())  # nothing runs: it would only take room
        self.backend.setEnabled(not controller.running)
        self._fill_backends()

    def _fill_backends(self) -> None:
        controller, box = self._controller, self.backend
        box.clear()
        if controller.machine is None:
            box.addItem("Looking for devices …", None)
            return
        for backend, label in (("cuda", "CUDA"), ("cpu", "CPU")):
            device = controller.machine.device(cast("Backend", backend))
            found = cut_short(device.name, MOST_OF_NAME) if device else "none found"
            box.addItem(f"{label} · {found}", backend)
            if device is None:
                model = cast("QStandardItemModel", box.model())
                model.item(box.count() - 1).setEnabled(False)
                box.setItemData(box.count() - 1, plain_tip(self._why_no_gpu()), Qt.ItemDataRole.ToolTipRole)
        path, session = controller.path, controller.session
        if path is not None and session is not None and (controller.replaying or not controller.running):
            box.addItem(f"Replay: {cut_short(named(session, path), MOST_OF_NAME)}", REPLAY)
        box.setCurrentIndex(box.findData(REPLAY if controller.replaying else controller.backend))

    def _why_no_gpu(self) -> str:
        machine = self._controller.machine
        missing = [f for f in machine.findings if not f.ok] if machine else []
        return "\n".join(f"{f.name}: {f.detail}. {f.remedy}" for f in missing) or "No CUDA device was found."

    def _choose(self, index: int) -> None:
        data = self.backend.itemData(index)
        if data == REPLAY:
            self._controller.replay(1.0)
        elif data is not None:
            self._controller.choose_backend(data)

    def _trigger(self, key: str) -> None:
        action = self._registry.find(key)
        if action is not None:
            action.trigger()

    def _open_menu(self) -> None:
        menu = self.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._menu_button.mapToGlobal(self._menu_button.rect().bottomLeft()))
