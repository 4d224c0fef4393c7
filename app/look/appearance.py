"""Applies a theme and a zoom: style, palette, font, stylesheet; can follow the desktop's choice."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Literal, cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLayout, QWidget
from shiboken6 import isValid

from flashscope.app.look.fonts import load_fonts, ui_font
from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import DARK, LIGHT, THEMES, Theme
from flashscope.app.look.zoom import ZOOM, scaled

ThemeChoice = Literal["system", "dark", "light", "contrast"]
PAUSE_MS = 4  # between two turns of a switch: what waits in the event loop comes first
TURN_S = 0.003  # of a switch, plus what the step takes that is begun then


class Appearance(QObject):
    """The theme and the zoom in use.

    A stylesheet goes to everything in what has it, in one go. So neither the application nor a large window
    has one, but each part of a window; what holds the parts takes its colours from the palette.

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
        self._steps: list[Callable[[], None]] = []  # what is left of a switch
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
        self.finish()
        self.choice = choice
        self._turn_to(self._resolve(), ZOOM.factor)

    def zoom(self, percent: int) -> None:
        """Show everything in this size from now on, in the same turns."""
        self.finish()
        self._turn_to(self.theme, percent / 100)

    def use(self, theme: Theme) -> None:
        """Use this theme at once, whatever the desktop says."""
        self.choose(cast("ThemeChoice", theme.name))
        self.finish()

    @property
    def turning(self) -> bool:
        """Whether a switch has begun and is not on show yet."""
        return bool(self._steps)

    def finish(self) -> None:
        """Do what is left of a switch now."""
        while self._steps:
            self._step()

    def _turn_to(self, theme: Theme, factor: float) -> None:
        if (theme, factor) == (self.theme, ZOOM.factor):
            return
        self.theme = theme
        zooms, parts = factor != ZOOM.factor, [*filter(isValid, self._parts)]
        outer = _around(parts) if zooms else []
        sized: list[Callable[[], None]] = []
        if zooms:
            sized = [partial(_hold, outer), partial(self._size, factor), ZOOM.changed.emit]
        self._steps = [
            self._freeze,
            *sized,
            self._colour,
            *(partial(self._redress, part, zooms) for part in parts),
            partial(_lay_out, outer),
            lambda: self.changed.emit(theme),
            self._show,
        ]
        self._timer.start()

    def _turn(self) -> None:
        begun = perf_counter()
        while self._steps and perf_counter() - begun < TURN_S:
            self._step()

    def _step(self) -> None:
        if len(self._steps) <= 1:
            self._timer.stop()
        self._steps.pop(0)()

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

    def _redress(self, part: QWidget, zooms: bool) -> None:
        if isValid(part):
            part.setStyleSheet(self._sheet)
            if zooms:
                _lay_out(_inside_out(part))

    def _show(self) -> None:
        for window in self._frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)
                window.repaint()  # Qt asks for no paint any more where it was refused one meanwhile
        self._frozen = []

    def _forget_soon(self) -> None:
        QTimer.singleShot(0, self._forget)  # a window tells that it goes before its parts are gone

    def _forget(self) -> None:
        """Keep nothing of a window that is gone, with all that its parts hold."""
        self._parts = [*filter(isValid, self._parts)]

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
    """What these are in, from the inside to the outside."""
    outer = {widget for part in parts for widget in _above(part)}
    return sorted(outer, key=lambda widget: len(list(_above(widget))), reverse=True)


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
