"""Small pictures of stops, drawn by another process from the real stage, one after the other."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QObject, QProcess, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap

from flashscope.app.control.appearance import Appearance
from flashscope.app.control.controller import Controller
from flashscope.app.shell.elsewhere import PROGRAM_MAIN
from flashscope.app.stage.draft import as_seen
from flashscope.app.stage.story import Stop
from flashscope.app.stage.writing import content_of, problem_of
from flashscope.profiles.wire.process import python_command

IDLE_MS = 400  # without another wish before a process is started
STOP_MS = 2000
SIZE = QSize(480, 270)  # pixels that are kept of a picture
WAITING, HELD, NONE, ON_SHOW = "Being drawn …", "Drawn after the sweep", "No picture", "What is on show"


class Look(NamedTuple):
    """What a stop looks like: two stops of one look share a picture."""

    stop: Stop
    written_ns: int
    theme: str

    @property
    def unsaid(self) -> "Look":
        """The same whatever its sentence says."""
        return self._replace(stop=replace(self.stop, sentence=""))


class Thumbnails(QObject):
    """Has pictures drawn of what is wanted and not there yet.

    Nothing is drawn while something is measured: the process would take part of the machine.

    Signals:
        drawn: There is another picture, or the news that there will be none.

    Args:
        controller: Tells when nothing is measured.
        appearance: The theme in use.
        parent: Its owner.
    """

    drawn = Signal()

    def __init__(self, controller: Controller, appearance: Appearance, parent: QObject) -> None:
        super().__init__(parent)
        self._controller, self._appearance = controller, appearance
        self._pictures: dict[Look, QPixmap | None] = {}  # None: it could not be drawn
        self._wanted: Sequence[Look] = ()
        self._asked: list[Look] = []  # of the process that runs, in the order of its pictures
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: QProcess | None = None
        self._pause = QTimer(self, interval=IDLE_MS, singleShot=True)
        self._pause.timeout.connect(self._begin)
        controller.running_changed.connect(lambda _running: self._follow())

    def look(self, stop: Stop, session: Path | None, beside: Sequence[Path] = ()) -> Look | None:
        """The look of a stop of these files; None: of what is on show and has no file.

        Args:
            stop: The stop.
            session: Its session's file, None where it names none.
            beside: The files of what it compares with that.
        """
        needs = stop.page not in {"stepper", "ladder"}
        file = (session or self._controller.path) if needs else None
        if needs and (file is None or (session is None and self._controller.moving)):
            return None
        named = replace(
            as_seen(stop),
            session=str(file.absolute()) if file is not None else "",
            beside=tuple(str(path.absolute()) for path in beside),
        )
        return Look(named, _written(file), self._appearance.theme.name)

    def want(self, looks: Iterable[Look | None]) -> None:
        """Have these drawn, in this order, once nothing else is wished for a while."""
        self._wanted = [*dict.fromkeys(look for look in looks if look is not None)]
        if self._missing():
            self._pause.start()

    def picture(self, look: Look | None) -> QPixmap | None:
        """The picture, or until it is drawn that with the sentence before; None where there is none."""
        if look is None:
            return None
        return self._pictures.get(look) or next(iter(self._like(look).values()), None)

    def _like(self, look: Look) -> dict[Look, QPixmap]:
        """The pictures that there are of what differs in its sentence alone."""
        held = ((one, picture) for one, picture in self._pictures.items() if one.unsaid == look.unsaid)
        return {one: picture for one, picture in held if picture is not None}

    def words(self, look: Look | None) -> str:
        """What stands in the place of a picture that is not there."""
        if look is None:
            return ON_SHOW
        if look in self._pictures:
            return NONE
        return HELD if self._controller.measuring else WAITING

    def stop(self) -> None:
        """Draw no more; to be called before this object goes."""
        self._pause.stop()
        self._end()

    def _missing(self) -> list[Look]:
        return [look for look in self._wanted if look not in self._pictures]

    def _follow(self) -> None:
        """Leave the machine to a sweep, and go on after it."""
        if self._controller.measuring:
            self._end()
        else:
            self._pause.start()
        self.drawn.emit()

    def _begin(self) -> None:
        if self._process is not None or self._controller.measuring:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="flashscope-")
        story = Path(self._folder.name) / "stop.toml"
        for look in self._missing():
            if problem_of(story, look.stop):
                self._pictures[look] = None
        self._asked = self._missing()
        self.drawn.emit()
        if self._asked:
            story.write_bytes(content_of(story, "Stops", [look.stop for look in self._asked]))
            self._start(story)
        else:
            self._end()

    def _start(self, story: Path) -> None:
        theme = self._asked[0].theme
        command = python_command(
            PROGRAM_MAIN, "shots", str(story.parent), "--story", str(story), "--theme", theme
        )
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._take)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)
        process.start(command[0], command[1:])

    def _take(self) -> None:
        """The next picture is written: the process says so in a line."""
        process = self._process
        while process is not None and self._asked and process.canReadLine():
            path = bytes(process.readLine().data()).decode(errors="replace").strip()
            picture = QPixmap(path)
            keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            small = None if picture.isNull() else picture.scaled(SIZE, keep, smooth)
            look = self._asked.pop(0)
            for other in self._like(look).keys() - set(self._wanted):
                del self._pictures[other]  # or each sentence that was written on the way would keep its own
            self._pictures[look] = small
            self.drawn.emit()

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._finish()

    def _finish(self) -> None:
        """What was not drawn cannot be; whatever is wished since then comes next."""
        self._take()
        self._pictures |= dict.fromkeys(self._asked)
        self._end()
        self.drawn.emit()
        if self._missing():
            self._pause.start()

    def _end(self) -> None:
        process, self._process, self._asked = self._process, None, []
        if process is not None:
            process.blockSignals(True)
            process.kill()
            process.waitForFinished(STOP_MS)
            process.deleteLater()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _written(file: Path | None) -> int:
    try:
        return file.stat().st_mtime_ns if file is not None else 0
    except (OSError, ValueError):
        return 0
