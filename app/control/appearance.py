"""Applies a theme and a zoom: style, palette, font, stylesheet; can follow the desktop's choice."""

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Literal, cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLayout, QWidget
from shiboken6 import isValid

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import load_fonts, ui_font
from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import DARK, LIGHT, THEMES, Theme
from flashscope.app.look.zoom import ZOOM, scaled

ThemeChoice = Literal["system", "dark", "light", "contrast"]
PAUSE_MS = 4  # between two turns of a switch: what waits in the event loop comes first
LATER_MS = 500  # before what is hidden follows
TURN_S = 0.003  # of a switch, plus what the step takes that is begun then


class Appearance(QObject):
    """The theme and the zoom in use.

    A stylesheet goes to everything in what has it, in one go. So neither the application nor a large window
    has one, but each part of a window; what holds the parts takes its colours from the palette. A switch is
    on show once the parts that are to be seen have it; the others follow, at the latest when they are shown.

    Attributes:
        choice: What the user chose; `system` follows the desktop's colour scheme, dark if that is unknown.
        theme: The theme that results.

    Signals:
        changed: Another theme or zoom is in use (Theme); palette, font and stylesheet have been set already.
    """

    changed = Signal(object)

    def __init__(self, app: QApplication, choice: ThemeChoice = "system") -> None:
        super().__init__(app)
        self._app = app
        self.choice: ThemeChoice = choice
        load_fonts()
        app.setStyle("Fusion")
        app.setFont(ui_font())
        self.theme = self._resolve()
        self._parts: list[QWidget] = []
        self._switch: Iterator[None] | None = None  # what is left of one
        self._due: list[QWidget] = []  # parts that still have the stylesheet before it
        self._outer: list[QWidget] = []  # what is around parts, and is to be laid out anew
        self._factor = ZOOM.factor  # of the zoom in use, or on its way
        self._zooms = self._shown = False  # of that switch: whether it zooms, and whether it is on show
        self._frozen: list[QWidget] = []
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._turn)
        self._colour()
        app.styleHints().colorSchemeChanged.connect(lambda _scheme: self.choose(self.choice))

    def dress(self, window: QWidget, large: Sequence[QWidget] = (), bare: Sequence[QWidget] = ()) -> None:
        """Give a window or a dialog, with what is in it, the look in use and those to come.

        Args:
            window: What is dressed.
            large: What in it is so large that a stylesheet is given to nothing that holds it.
            bare: What in it holds parts that are dressed each by itself.
        """
        parts = [part for part in _parts(window, [*large, *bare]) if part not in bare]
        self._parts += parts
        for part in parts:
            part.setStyleSheet(self._sheet)
        window.destroyed.connect(self._forget_soon)

    def choose(self, choice: ThemeChoice) -> None:
        """Use this theme from now on; windows show it some turns of the event loop later."""
        self.choice = choice
        self._turn_to(self._resolve(), self._factor)

    def zoom(self, percent: int) -> None:
        """Show everything in this size from now on, in the same turns."""
        self._turn_to(self.theme, percent / 100)

    def use(self, theme: Theme) -> None:
        """Use this theme at once, whatever the desktop says."""
        self.choose(cast("ThemeChoice", theme.name))
        self.finish()

    @property
    def turning(self) -> bool:
        """Whether a switch has begun and is not on show yet."""
        return self.busy and not self._shown

    @property
    def busy(self) -> bool:
        """Whether a switch has begun and has not reached yet what is hidden, too."""
        return self._switch is not None

    def finish(self) -> None:
        """Do what is left of a switch now."""
        while self.busy:
            self._step()

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Dress a part that is shown before its turn."""
        if event.type() == QEvent.Type.Show and watched in self._due:
            self._redress(watched)
            if self._shown and self._zooms:
                _lay_out(_above(watched))
        return super().eventFilter(watched, event)

    def _turn_to(self, theme: Theme, factor: float) -> None:
        if (theme, factor) == (self.theme, self._factor):
            return
        if self.turning:
            self.finish()
        self._factor = factor
        self.theme = theme  # what a switch before has not reached is reached by this one
        self._zooms, self._shown = factor != ZOOM.factor or (self.busy and self._zooms), False
        self._switch = self._turns(factor)
        self._timer.start(PAUSE_MS)

    def _turn(self) -> None:
        begun = perf_counter()
        while self.busy and perf_counter() - begun < TURN_S:
            self._step()

    def _step(self) -> None:
        if self._switch is not None and next(self._switch, self) is self:
            self._switch = None
            self._timer.stop()

    def _turns(self, factor: float) -> Iterator[None]:
        """A switch: what is in sight, which stays as it is until all of it is done, and then the rest."""
        self._freeze()
        yield
        if factor != ZOOM.factor:
            self._outer = _around(filter(QWidget.isVisible, self._valid()))
            _hold(self._outer)
            self._size(factor)
            yield
            ZOOM.changed.emit()
            yield
        self._colour()
        self._owe()
        yield
        while (part := next(filter(QWidget.isVisible, self._valid(self._due)), None)) is not None:
            self._redress(part)
            yield
        self._lay_out_around()
        yield
        self.changed.emit(self.theme)
        yield
        self._show()
        self._timer.setInterval(LATER_MS)  # for once: what is in sight is still being drawn
        yield
        self._timer.setInterval(PAUSE_MS)
        while self._due:
            self._redress(self._due[0])
            yield
        self._lay_out_around()

    def _freeze(self) -> None:
        """Until the end of the switch the windows stay as they are painted."""
        self._frozen = [window for window in self._app.topLevelWidgets() if window.updatesEnabled()]
        for window in self._frozen:
            window.setUpdatesEnabled(False)

    def _size(self, factor: float) -> None:
        """Fonts first, then what is fixed in pixels, and only then the stylesheets that take room in it."""
        ZOOM.factor = factor
        self._app.setFont(ui_font())
        _tell_now(QEvent.Type.ApplicationFontChange)

    def _colour(self) -> None:
        self._app.setPalette(palette(self.theme))
        _tell_now(QEvent.Type.ApplicationPaletteChange)
        self._sheet = scaled(stylesheet(self.theme))

    def _owe(self) -> None:
        """No part has the new stylesheet yet."""
        self._due = self._valid()
        for part in self._due:
            part.installEventFilter(self)

    def _redress(self, part: QWidget) -> None:
        self._due.remove(part)
        if not isValid(part):
            return
        part.removeEventFilter(self)
        part.setStyleSheet(self._sheet)
        if self._zooms:
            _lay_out(_inside_out(part))
            self._outer += [widget for widget in _above(part) if widget not in self._outer]

    def _lay_out_around(self) -> None:
        outer, self._outer = self._outer, []
        due = (one for one in outer if isValid(one) and not (self._shown and one.isVisible()))
        _lay_out(sorted(due, key=_depth, reverse=True))  # what is on show Qt lays out itself

    def _valid(self, parts: Iterable[QWidget] | None = None) -> list[QWidget]:
        return [*filter(isValid, self._parts if parts is None else parts)]

    def _show(self) -> None:
        for window in self._frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)
                window.repaint()  # Qt asks for no paint any more where it was refused one meanwhile
        self._frozen, self._shown = [], True

    def _forget_soon(self) -> None:
        QTimer.singleShot(0, self._forget)  # a window tells that it goes before its parts are gone

    def _forget(self) -> None:
        """Keep nothing of a window that is gone, with all that its parts hold."""
        self._parts = self._valid()

    def _resolve(self) -> Theme:
        if self.choice in THEMES:
            return THEMES[self.choice]
        return LIGHT if self._app.styleHints().colorScheme() == Qt.ColorScheme.Light else DARK


def _tell_now(change: QEvent.Type) -> None:
    """Qt tells windows of these some time later: let them have it before what follows."""
    QApplication.sendPostedEvents(None, change.value)


def _parts(widget: QWidget, large: Sequence[QWidget]) -> Iterator[QWidget]:
    """The large ones in a widget, and beside them the largest that hold none of these."""
    if widget in large or not any(map(widget.isAncestorOf, large)):
        yield widget
        return
    for child in widget.children():
        if isinstance(child, QWidget):
            yield from _parts(child, large)


def _hold(widgets: Iterable[QWidget]) -> None:
    """Let these lay out nothing until `_lay_out`: once for all that changes in them, and not after each."""
    for layout in _layouts(widgets):
        layout.setEnabled(False)


def _lay_out(widgets: Iterable[QWidget]) -> None:
    """Give these the sizes of what is in them: of a hidden page Qt keeps the sizes it knows."""
    for layout in _layouts(widgets):
        layout.setEnabled(True)
        layout.invalidate()
        layout.activate()


def _layouts(widgets: Iterable[QWidget]) -> Iterator[QLayout]:
    found = (widget.layout() for widget in widgets if isValid(widget))
    return (layout for layout in found if layout is not None)


def _inside_out(widget: QWidget) -> Iterator[QWidget]:
    """What is in a widget, and then the widget."""
    for child in widget.children():
        if isinstance(child, QWidget):
            yield from _inside_out(child)
    yield widget


def _around(parts: Iterable[QWidget]) -> list[QWidget]:
    """What these are in, each once."""
    return [*dict.fromkeys(widget for part in parts for widget in _above(part))]


def _depth(widget: QWidget) -> int:
    """How many widgets a widget is in."""
    return len([*_above(widget)])


def _above(widget: QWidget) -> Iterator[QWidget]:
    """What a widget is in, up to its window."""
    parent = widget.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()


def appearance_of(choice: ThemeChoice = "system") -> Appearance:
    """The appearance of the running QApplication, made with this choice when there is none yet."""
    app = cast("QApplication", QApplication.instance())
    return app.findChild(Appearance) or Appearance(app, choice)


def is_turning() -> bool:
    """Whether a switch of the theme or the zoom has begun and is not on show yet."""
    app = QApplication.instance()
    appearance = app.findChild(Appearance) if app is not None else None
    return appearance is not None and appearance.turning


def palette(theme: Theme) -> QPalette:
    """The theme's colours by Qt's roles, for everything the stylesheet does not name."""
    role, made = QPalette.ColorRole, QPalette()
    colours = {
        role.Window: theme.bg,
        role.WindowText: theme.text,
        role.Base: theme.panel,
        role.AlternateBase: theme.raised,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Text: theme.text,
        role.PlaceholderText: theme.dim,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.error,
        role.Link: theme.accent,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Mid: theme.line,
        role.Dark: theme.line,
    }
    for key, colour in colours.items():
        made.setColor(key, QColor(colour))
    for key in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, key, QColor(theme.dim))
    return made
