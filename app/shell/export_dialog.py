"""Where a user chooses in which format a session is exported and, of a picture, what it shows."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.look.picture import SCALE, PictureOptions
from flashscope.app.look.theme import LIGHT, THEMES
from flashscope.app.look.zoom import px
from flashscope.app.report.kinds import KINDS
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES

SCALES = (1, 2, 3, 4)
WIDTH = 420


class ExportDialog(QDialog):
    """Every format, and the options of those that are pictures; of several sessions there are fewer.

    A session without points has no picture.

    Signals:
        chosen: Export in this format, a key of KINDS, and so it is to look (str, PictureOptions).
    """

    chosen = Signal(str, object)

    def __init__(self, session: Session | None, theme: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export the session" if session else "Export the sessions")
        self._several = session is None
        measured = rows(session) if session else []
        told = {key: one.title for key, one in QUANTITIES.items() if any(map(one.says, measured))}
        curves = {curve.label: cut_short(curve.label, MOST_OF_NAME) for curve in by_curve(measured)}
        drawn = self._several or bool(measured)
        kinds = {key: one.title for key, one in KINDS.items() if drawn or not one.picture}
        self.kind = _choice("Format", kinds)
        self.plot = _choice("Plot", {"": "All four plots", **told})
        self.curve = _choice("Problems", curves)
        self.theme = _choice("Colours", {key: key.capitalize() for key in THEMES})
        self.scale = _choice("Size", {str(scale): f"{scale}×" for scale in SCALES})
        self.transparent = QCheckBox("No ground")
        self.transparent.setAccessibleName("Without a ground")
        self.theme.setCurrentIndex(max(0, self.theme.findData(theme)))
        self.scale.setCurrentIndex(SCALES.index(SCALE))
        self.about = PlainLabel("")
        self.about.setProperty("role", "dim")
        self._lay_out()
        self.kind.currentIndexChanged.connect(self._follow_kind)
        self._follow_kind()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow(PlainLabel("Format"), self.kind)
        form.addRow(PlainLabel(""), self.about)
        self._of_picture = (self.plot, self.curve, self.theme, self.scale, self.transparent)
        for field in self._of_picture:
            form.addRow(PlainLabel("" if field is self.transparent else field.accessibleName()), field)
        self._form = form
        buttons = DialogButtons(QDialogButtonBox.StandardButton.Cancel)
        save = buttons.addButton(
            "Choose the folder …" if self._several else "Save as …", QDialogButtonBox.ButtonRole.AcceptRole
        )
        save.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.accepted.connect(lambda: self.chosen.emit(self.kind.currentData(), self.look()))
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(buttons)
        self.setMinimumWidth(px(WIDTH))

    def look(self) -> PictureOptions:
        """How a picture is to look; of the first problems nothing is said."""
        return PictureOptions(
            plot=self.plot.currentData(),
            curve=self.curve.currentData() if self.curve.currentIndex() > 0 else "",
            scale=int(self.scale.currentData()),
            theme=self.theme.currentData() or LIGHT.name,
            transparent=self.transparent.isChecked(),
        )

    def _follow_kind(self) -> None:
        """Offer what this format has a use for."""
        kind = KINDS[self.kind.currentData()]
        self.about.setText(f"{kind.about[0].upper()}{kind.about[1:]}.")
        for field in self._of_picture:
            of_one = field in {self.plot, self.curve}
            self._form.setRowVisible(field, kind.picture and not (of_one and self._several))
        self._form.setRowVisible(self.scale, kind is KINDS["png"])
        self.adjustSize()


def _choice(name: str, options: Mapping[str, str]) -> QComboBox:
    """A box of texts, each with what it stands for."""
    box = ChoiceBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for value, text in options.items():
        box.addItem(text, value)
    return box
