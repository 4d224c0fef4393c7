"""The sentence of a stop: its text with blanks, what it says now, and what is wrong with a blank."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPlainTextEdit, QVBoxLayout, QWidget

from flashscope.app.look.zoom import keep
from flashscope.app.shell.editor.one_undo import show_text
from flashscope.app.stage.blanks import BLANK, Filled, filled
from flashscope.app.stage.offers import offers
from flashscope.app.stage.scene import Scene
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import PlainLabel, button_text
from flashscope.app.words.plain import unbroken

LINES_PX = 66
INSERT = "Insert a blank …"
NOTHING_SAID = "Without a sentence the view says what it has to say itself."
NO_BLANKS = "Nothing can be filled in here now"
LOOSE = "A brace without its partner stays as it is."


class SentenceField(QWidget):
    """A text of a few lines over what becomes of it.

    Signals:
        typed: The user has left this text in it (str).
    """

    typed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._scene = Scene()
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("Sentence, with blanks in braces")
        self.text.setPlaceholderText("flash2 is {runtime of flash2 against standard} at N = {n}.")
        keep(self.text, self.text.setFixedHeight, LINES_PX)
        self.text.textChanged.connect(self._tell)
        self.insert = does(
            text_button(INSERT, "Insert a blank into the sentence", self.offer), "editor.blank"
        )
        self.said, self.wrong = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.said.setAccessibleName("What the sentence says now")
        self.wrong.setAccessibleName("What is wrong with the sentence")
        self.wrong.setProperty("role", "error")
        for label in (self.said, self.wrong):
            label.setMinimumWidth(1)
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(self.said, 1)
        below.addWidget(self.insert, alignment=Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.text)
        column.addLayout(below)
        column.addWidget(self.wrong)

    def show_sentence(self, sentence: str, scene: Scene) -> None:
        """Show a sentence, and what it says of this."""
        show_text(self.text, sentence)
        self._scene = scene
        blanks = filled(sentence, scene)
        wrong = problems(sentence, blanks)
        waits = scene.waiting if blanks and not wrong else ""
        _write(self.wrong, wrong or waits, "error" if wrong else "dim")
        self.wrong.setVisible(bool(wrong or waits))
        _write(self.said, unbroken(said(sentence, blanks)) or NOTHING_SAID, "" if sentence else "dim")

    def offer(self) -> None:
        """Open the list of what can be filled in, each with its value now."""
        menu = self.menu()
        pop_up(menu, self.insert.mapToGlobal(self.insert.rect().bottomLeft()))

    def menu(self) -> QMenu:
        """What can be filled in: what each kernel has in a list of its own."""
        menu = QMenu(self)
        menu.setAccessibleName("Blanks that can be filled")
        found: Mapping[str, Sequence[Filled]] = {} if self._scene.waiting else offers(self._scene)
        for of, blanks in found.items():
            if len(blanks) == 1:
                self._fill(menu, blanks)
            else:
                inner = menu.addMenu(button_text(of))
                inner.aboutToShow.connect(partial(self._fill, inner, blanks))
        if not found:
            menu.addAction(button_text(self._scene.waiting or NO_BLANKS)).setEnabled(False)
        return menu

    def _fill(self, menu: QMenu, blanks: Sequence[Filled]) -> None:
        """Write the blanks into a menu that is about to be shown; it may have them already."""
        for one in blanks if menu.isEmpty() else ():
            action = menu.addAction(f"{button_text(one.blank)}\t{button_text(one.value)}")
            action.triggered.connect(lambda _checked=False, blank=one.blank: self.put(blank))

    def put(self, blank: str) -> None:
        """Write a blank where the cursor stands."""
        self.text.insertPlainText(blank)
        self.text.setFocus()

    def _tell(self) -> None:
        self.typed.emit(self.text.toPlainText())


def _write(label: PlainLabel, text: str, role: str) -> None:
    label.setText(text)
    if label.property("role") != role:
        label.setProperty("role", role)
        label.style().polish(label)


def said(sentence: str, blanks: Sequence[Filled]) -> str:
    """The sentence with its blanks filled; one that nothing fills stays as it is written."""
    values = iter(blanks)
    return BLANK.sub(lambda _found: _value(next(values)), sentence)


def problems(sentence: str, blanks: Sequence[Filled]) -> str:
    """What is wrong with the blanks, a line each."""
    told = dict.fromkeys(f"{one.blank}: {one.problem}" for one in blanks if one.problem)
    rest = BLANK.sub("", sentence)
    loose = [LOOSE] if "{" in rest or "}" in rest else []
    return "\n".join([*told, *loose])


def _value(one: Filled) -> str:
    return one.blank if one.problem else one.value
