"""The mode Predict: the next value of the row watched is hidden and asked; an answer reveals it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.plots.stepper.guess_chart import ASKED_OF, GuessChart
from flashscope.app.plots.stepper.ink import Role, role_ink
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.quiz import MOST_CHOICES, Quiz, Score, questions
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, button_text, set_tip, strong
from flashscope.kernels.workload.trace import Trace

GAP = 8  # pixels
TITLE = "Predict"
QUESTION_PX, CHOICE_PX = 20, 16  # pixels of the letters
STAGED_PX = 16, 13  # where everything is large
WIDE = 700  # pixels from which on the score stands beside the question
WIDEST = 560  # pixels of a choice
ROOMY, MOST_GROWN = (1180, 510), 1.75  # pixels of a board from which on letters grow, and how much at most
LOWEST_CHART = 160  # pixels
SIDE = 300  # pixels of the score's card, and of what is known
ROLES: tuple[Role, ...] = ("m", "a", "l", "o")
FORWARD = frozenset({"forward", "next_tile", "next_event", "play"})
BACK = frozenset({"back", "previous_tile", "previous_event"})
NO_ROW = (
    "This row meets no second tile: there is nothing to predict. Watch another row, or choose another preset."
)
BROKEN_TRACE = "This trace is broken on purpose: choose another one to predict what comes next."
RIGHT, WRONG = "✓ Right.", "✗ No: it is {}."
ENDED = "That was the last question on this row. Watch another row for more."


class PredictBoard(ModeBoard):
    """One question at a time, its choices, and the score.

    Attributes:
        quiz: The questions on the row watched, and the answers.
        score: Of all that was answered since the window opened, or since it was reset.
        choices: The buttons of the choices.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.told = ""
        self._theme = theme
        self._of: Trace | None = None  # what is asked about, and which row
        self._choice: RowChoice | None = None
        self._row = 0
        self._answers: dict[int, dict[int, int]] = {}  # of this trace, by rows
        self._view: StepView | None = None
        self.quiz, self.score = Quiz(()), Score()
        self.known, self.asks, self.shows = (_text() for _ in range(3))
        self.choices = [
            does(text_button("", f"Choice {n + 1}", partial(self.answer, n)), f"stepper.answer.{n + 1}")
            for n in range(MOST_CHOICES)
        ]
        self.onward = does(
            text_button("Next question", "Next question", self._go_on, "primary"), "stepper.forward"
        )
        self.tally = PlainLabel(wordWrap=True)
        self.reset = text_button("Reset the score", "Reset the score", self._reset)
        set_tip(self.reset, "Begin to count anew, and hide every answer again")
        for control in (*self.choices, self.onward, self.reset):
            control.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._card = Card(TITLE, "…")
        self._side = Card("Score")
        self.chart = GuessChart(theme)
        self._so_far = Card("…")
        self._staged = False
        self._lay_out()
        keep(self, self._size)

    @property
    def cards(self) -> Sequence[Card]:
        """The question's, the score's, and that of what is known."""
        return self._card, self._side, self._so_far

    @property
    def shown(self) -> Sequence[QWidget]:
        """Those that are on show."""
        return [card for card in self.cards if not card.isHidden()]

    def show_view(self, view: StepView) -> None:
        """Ask about the row watched; at another step than a question's, ask the last question up to there."""
        self._view = view
        trace = view.recording.trace
        if trace is not self._of or view.choice != self._choice:
            if trace is not self._of:
                self._answers = {}
            self._of, self._choice = trace, view.choice
            self._ask(view)
            self._seek()
        elif self.quiz.question is not None and view.cursor.at != self._step:
            if view.row != self._row:
                self._ask(view)
            self._follow(view.cursor.at)
        self._show()

    def _ask(self, view: StepView) -> None:
        """Have questions on the row watched, of which the last one up to its step comes first."""
        self._row = view.row
        asked = () if view.recording.fault else questions(view.story, view.row)
        self.quiz = Quiz(asked, answers=self._answers.get(view.row, {}))
        self._follow(view.cursor.at)

    def words(self) -> str:
        """The question and the choices, what was answered, and the score."""
        asked = self.quiz.question
        if asked is None:
            return f"{plain(self.asks.text())}\n{self.tally.text()}"
        choices = [f"{n}: {_bare(choice)}" for n, choice in enumerate(asked.choices, 1)]
        shows = _bare(self.shows.text())
        return "\n".join([_bare(asked.known), _bare(asked.asks), *choices, shows, self.tally.text()])

    def apply_theme(self, theme: Theme) -> None:
        """Colour the answers anew."""
        self._theme = theme
        self.chart.apply_theme(theme)
        self._show()

    def result(self, view: StepView) -> str:
        """The score: what comes of the trace would tell an answer."""
        del view
        return self.score.text if self.score.asked else ""

    def role(self, view: StepView) -> str:
        """Neither good nor bad."""
        del view
        return "dim"

    def sentence(self, view: StepView) -> str:
        """How many were right, for a stage: the question itself is on it."""
        del view
        place = (
            f"Question {self.quiz.at + 1} of {len(self.quiz.questions)}" if self.quiz.questions else "Predict"
        )
        return f"{place}: {self.score.text}."

    def answer(self, choice: int) -> None:
        """Answer the question on show with one of its choices, counted from 0."""
        before = self.quiz
        self.quiz = before.answer(choice)
        if self.quiz is before or before.question is None:
            return
        self._answers[self._row] = self.quiz.answers
        right = choice == before.question.right
        self.score = Score(self.score.right + right, self.score.asked + 1)
        self._seek()
        self._show()
        self.changed.emit()

    def take_motion(self, key: str) -> bool:
        """Go from question to question, onward only where the one on show is answered."""
        if key in FORWARD:
            self._go_on()
        elif key in BACK:
            self._move(-1)
        elif key == "start":
            self._move(-len(self.quiz.questions))
        return True

    def take_stage(self, panels: Sequence[str]) -> None:
        """Have the question alone there; the stage's own line tells the score."""
        del panels
        self._take_stage(on=True)

    def leave_stage(self) -> None:
        """Show the score again, and what is known."""
        self._take_stage(on=False)

    def _take_stage(self, *, on: bool) -> None:
        self._staged = on
        self._card.set_title("" if on else TITLE)  # the stage's own line says where one is
        self._size()
        self.fill_with(None)
        self._show()

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of the cards have all the room; None: they share it."""
        for one in self.cards:
            one.setVisible(one is card if card is not None else one is self._card or not self._staged)
        if card is None:
            self._show_known()

    @property
    def _step(self) -> int:
        """The step that belongs to the question on show: the answer's once it is given."""
        asked = self.quiz.question
        if asked is None:
            return 0
        return asked.at if self.quiz.answered is None else asked.shown_at

    def _go_on(self) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        self.quiz = self.quiz.moved(by)
        self._seek()
        self._show()
        self.changed.emit()

    def _seek(self) -> None:
        """Have the page show the step; it may be there."""
        if self.quiz.question is not None:
            self.step_sought.emit(self._step)

    def _follow(self, at: int) -> None:
        """Ask the last question that is due at a step, or the first one."""
        due = [place for place, one in enumerate(self.quiz.questions) if one.at <= at]
        self.quiz = Quiz(self.quiz.questions, due[-1] if due else 0, self.quiz.answers)

    def _reset(self) -> None:
        self.score, self.quiz, self._answers = Score(), Quiz(self.quiz.questions), {}
        self._seek()
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        asked, taken = self.quiz.question, self.quiz.answered
        self.tally.setText(self.score.text)
        self.onward.setEnabled(taken is not None and not self.quiz.ended)
        place = f"{self.quiz.at + 1} of {len(self.quiz.questions)}"
        self._card.set_unit(place if asked is not None and not self._staged else "")
        for n, button in enumerate(self.choices):
            self._show_choice(n, button)
        self._show_known()
        if asked is None:
            broken = self._view is not None and self._view.recording.fault
            self._write("", BROKEN_TRACE if broken else NO_ROW, "")
            return
        shows = ""
        if taken is not None:
            verdict = RIGHT if taken == asked.right else WRONG.format(asked.choices[asked.right])
            shows = f"{strong(verdict)} {asked.shows}" + (
                f"<br>{ENDED}" if self.quiz.ended and not self._staged else ""
            )
        self._write(asked.known, asked.asks, shows)

    def _show_known(self) -> None:
        """Draw what is known so far, where the question is about something that is drawn."""
        asked, view = self.quiz.question, self._view
        drawn = ASKED_OF.get(asked.kind, "") if asked is not None else ""
        self._so_far.setVisible(bool(drawn) and not self._staged)
        if asked is None or view is None or not drawn:
            return
        asks = self.quiz.answered is None and asked.kind != "alpha"  # which tells the maximum
        self._so_far.set_title(f"{drawn} so far")
        self._so_far.set_unit(f"row {asked.row}")
        here = StepView(view.story, view.cursor.to(self._step), RowChoice(asked.row, follow=False))
        self.chart.show_known(here, asked.kind, asked.tile + (not asks), asks=asks)

    def _show_choice(self, n: int, button: QPushButton) -> None:
        asked, taken = self.quiz.question, self.quiz.answered
        there = asked is not None and n < len(asked.choices)
        button.setVisible(there)
        if asked is None or not there:
            return
        text = _bare(asked.choices[n])
        mark = "" if taken is None else "  ✓" if n == asked.right else "  ✗" if n == taken else ""
        button.setText(button_text(f"{n + 1} · {text}{mark}"))
        button.setAccessibleName(f"Choice {n + 1}: {text}")
        button.setProperty("role", "primary" if taken is not None and n == asked.right else "choice")
        button.style().unpolish(button)
        button.style().polish(button)
        button.setEnabled(taken is None or n in {asked.right, taken})

    def _write(self, known: str, asks: str, shows: str) -> None:
        for label, html in ((self.known, known), (self.asks, asks), (self.shows, shows)):
            label.setText(self._inked(html))
            label.setVisible(bool(html))

    def _inked(self, html: str) -> str:
        """Values in the colours that they have in every panel."""
        for role in ROLES:
            ink = role_ink(self._theme, role)
            html = html.replace(f"<{role}>", f'<span style="color:{ink}">').replace(f"</{role}>", "</span>")
        return html

    def _lay_out(self) -> None:
        self.known.setProperty("role", "dim")
        body = self._card.body
        body.setSpacing(12)
        body.addSpacing(GAP)
        for part in (self.known, self.asks, *self.choices, self.shows):
            body.addWidget(part)
        body.addWidget(self.onward, 0, Qt.AlignmentFlag.AlignLeft)
        body.addStretch(1)
        self._side.body.addWidget(self.tally)
        self._side.body.addWidget(self.reset)
        self._outer = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(GAP)
        self._outer.addWidget(self._card, 1)
        aside = QVBoxLayout()
        aside.setSpacing(GAP)
        self._so_far.body.addWidget(self.chart, 1)
        aside.addWidget(self._side)
        aside.addWidget(self._so_far, 1)
        aside.addStretch(0)
        self._outer.addLayout(aside)
        keep(self, self._arrange)

    @property
    def _grown(self) -> float:
        """How many times as large as at least letters are where the board has the room."""
        return min(max(1.0, min(self.width() / px(ROOMY[0]), self.height() / px(ROOMY[1]))), MOST_GROWN)

    def _arrange(self) -> None:
        """Put the score beside the question or under it, and write as large as there is room."""
        self._size()
        wide = self.width() >= px(WIDE)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._outer.setDirection(across if wide else down)
        for card in (self._side, self._so_far):
            card.setMaximumWidth(px(SIDE) if wide else self.maximumWidth())
            card.setMinimumWidth(px(SIDE) if wide else 0)
        self._so_far.setMinimumHeight(px(LOWEST_CHART if wide else SIDE))
        self._so_far.setMaximumHeight(self.maximumHeight() if wide else px(SIDE))

    def _size(self) -> None:
        """Write the question in larger letters than the rest; on a stage all letters are large."""
        grown = 1.0 if self._staged else self._grown
        question, choice = STAGED_PX if self._staged else (QUESTION_PX * grown, CHOICE_PX * grown)
        for button in self.choices:
            button.setMaximumWidth(px(WIDEST * grown))
        for label, size in ((self.asks, question), (self.known, choice), (self.shows, choice)):
            label.setStyleSheet(f"font-size: {px(size)}px;")
        for button in (*self.choices, self.onward):
            button.setStyleSheet(f"font-size: {px(choice)}px; text-align: left;")


def _text() -> FormulaLabel:
    label = FormulaLabel()
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label


def _bare(html: str) -> str:
    """A text without tags, exponents as `^`."""
    text = plain(html)
    for role in (*ROLES, "b"):
        text = text.replace(f"<{role}>", "").replace(f"</{role}>", "")
    return text.replace("<br>", " ")
