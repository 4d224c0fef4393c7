"""Applies a theme and a zoom: style, palette, font, stylesheet; can follow the desktop's choice."""

from collections.abc import Callable
from typing import Literal, cast

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.look.fonts import load_fonts, ui_font
from app.look.stylesheet import stylesheet
from app.look.theme import DARK, LIGHT, THEMES, Theme
from app.look.zoom import ZOOM, scaled

Choice = Literal["system", "dark", "light", "contrast"]
PAUSE_MS = 4  # between two steps of a switch: what waits in the event loop comes first


class Appearance(QObject):
    """The theme and the zoom in use.

    Attributes:
        choice: What the user chose; `system` follows the desktop's colour scheme, dark if that is unknown.
        theme: The theme that results.

    Signals:
        changed: Another theme or zoom is in use (Theme); palette, font and stylesheet have been set already.
    """

    changed = Signal(object)

    def __init__(self, app: QApplication, choice: Choice = "system") -> None:
        super().__init__(app)
        self._app = app
        self.choice: Choice = choice
        load_fonts()
        app.setStyle("Fusion")
        app.setFont(ui_font())
        self.theme = self._resolve()
        self._steps: list[Callable[[], None]] = []  # what is left of a switch
        self._frozen: list[QWidget] = []
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._step)
        apply_theme(app, self.theme)
        app.styleHints().colorSchemeChanged.connect(lambda _scheme: self.choose(self.choice))

    def choose(self, choice: Choice) -> None:
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
        self.choose(cast("Choice", theme.name))
        self.finish()

    def finish(self) -> None:
        """Do what is left of a switch now."""
        while self._steps:
            self._step()

    def _turn_to(self, theme: Theme, factor: float) -> None:
        if (theme, factor) != (self.theme, ZOOM.factor):
            self.theme = theme
            zoomed = [ZOOM.changed.emit, self._measure] if factor != ZOOM.factor else []
            told = [*zoomed, lambda: self.changed.emit(theme)]
            self._steps = [self._bare, lambda: self._dress(factor), *told, self._show]
            self._timer.start()

    def _step(self) -> None:
        if len(self._steps) <= 1:
            self._timer.stop()
        self._steps.pop(0)()

    def _bare(self) -> None:
        """Take the old stylesheet away: to replace it with another one takes Qt three times as long as both.

        Until the end of the switch the windows stay as they are painted.
        """
        self._frozen = [window for window in self._app.topLevelWidgets() if window.updatesEnabled()]
        for window in self._frozen:
            window.setUpdatesEnabled(False)
        self._app.setStyleSheet("")

    def _dress(self, factor: float) -> None:
        if factor != ZOOM.factor:
            ZOOM.factor = factor
            self._app.setFont(ui_font())
        apply_theme(self._app, self.theme)

    def _measure(self) -> None:
        """Lay everything out from the inside to the outside: of a hidden page Qt keeps the sizes it knows."""
        for widget in sorted(self._app.allWidgets(), key=_depth, reverse=True):
            layout = widget.layout()
            if layout is not None:
                layout.invalidate()
                layout.activate()

    def _show(self) -> None:
        for window in self._frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)
        self._frozen = []

    def _resolve(self) -> Theme:
        if self.choice in THEMES:
            return THEMES[self.choice]
        return LIGHT if self._app.styleHints().colorScheme() == Qt.ColorScheme.Light else DARK


def _depth(widget: QWidget) -> int:
    """How many widgets it is in."""
    parent = widget.parentWidget()
    return 0 if parent is None else 1 + _depth(parent)


def appearance_of(choice: Choice = "system") -> Appearance:
    """The appearance of the running QApplication, made with this choice when there is none yet."""
    app = cast("QApplication", QApplication.instance())
    return app.findChild(Appearance) or Appearance(app, choice)


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Set palette and stylesheet of the whole application."""
    app.setPalette(palette(theme))
    app.setStyleSheet(scaled(stylesheet(theme)))


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
