"""From a point of Measure to what is inside its kernel, and back: what a user can do there."""

from collections.abc import Callable
from functools import partial
from typing import cast

from flashscope.app.control.actions import Action
from flashscope.app.control.bundled import inside_title
from flashscope.app.control.controller import Controller
from flashscope.app.pages.registry import place_of
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.timeline import ClockedKernel
from flashscope.profiles.plan.plan import Point

MEASURE = "measure"
NO_POINT = "No point is chosen: point at a curve, or choose a row of the results."


class InsideActions:
    """Looks inside the point that is looked at.

    Args:
        controller: Has the session on show, and what is looked at of it.
        view: The key of the view in front.
        show_view: Brings one to the front.
        tell: Says something in one line.
    """

    def __init__(
        self,
        controller: Controller,
        view: Callable[[], str],
        show_view: Callable[[str], None],
        tell: Callable[[str], object],
    ) -> None:
        self._controller, self._view, self._show_view, self._tell = controller, view, show_view, tell
        controller.insides.back_wanted.connect(self._go_back)
        controller.session_changed.connect(lambda _session: self._forget())

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            Action("inside", "Look inside the point", self._look, "Sweep", "I", possible=self._measured),
            Action(
                "inside.timeline",
                "Record a timeline of the point",
                self._clock,
                "Sweep",
                "Shift+I",
                possible=self._measured,
            ),
            Action(
                "inside.back", "Go back to the point", self._go_back, "Sweep", "Alt+Up", possible=self._inside
            ),
        ]

    def _measured(self) -> bool:
        """Whether a session's points are in front."""
        return self._controller.session is not None and place_of(self._view()).key == MEASURE

    def _inside(self) -> bool:
        """Whether there is a way back."""
        return bool(self._controller.insides.origin) and place_of(self._view()).key != MEASURE

    def _look(self) -> None:
        point = self._point()
        if point is None:
            return
        if point.problem.passes == "backward":
            self._look_backward(point)
        else:
            self._look_forward(point)

    def _look_backward(self, point: Point) -> None:
        from flashscope.app.stepper.backward.requests import backward_of_point  # noqa: PLC0415 - as below

        controller = self._controller
        found = backward_of_point(
            point.kernel, point.problem, self._backend, controller.machine, measuring=controller.measuring
        )
        if isinstance(found, str):
            self._tell(f"{point.kernel} cannot be looked into: {found}")
        else:
            self._leave_for("stepper", partial(controller.insides.backward_asked.emit, found))

    def _look_forward(self, point: Point) -> None:
        from flashscope.app.stepper.from_point import trace_of_point  # noqa: PLC0415 - a window is shown before NumPy is loaded

        controller = self._controller
        found = trace_of_point(
            point.kernel,
            point.problem,
            self._backend,
            controller.machine,
            measuring=controller.measuring,
            recorded=inside_title(),
        )
        if found.lack:
            self._tell(f"{found.title} cannot be looked into: {found.lack}")
            return
        self._leave_for("stepper", partial(controller.insides.trace_asked.emit, found))

    def _clock(self) -> None:
        from flashscope.app.stepper.point_timeline import timeline_of_point, why_no_timeline  # noqa: PLC0415 - as above

        point = self._point()
        if point is None:
            return
        machine = self._controller.machine
        if why := why_no_timeline(point.kernel, machine):
            self._tell(why)
            return
        kernel = cast("ClockedKernel", point.kernel)
        found = timeline_of_point(kernel, point.problem, self._backend, machine)
        self._leave_for("timeline", partial(self._controller.insides.timeline_asked.emit, found))

    @property
    def _backend(self) -> Backend:
        """Where the points on show were measured."""
        session = self._controller.session
        return "cpu" if session is None else session.backend

    def _point(self) -> Point | None:
        """The point that is looked at; None, and said so: there is none."""
        point = self._controller.point_meant
        if point is None:
            self._tell(NO_POINT)
        return point

    def _leave_for(self, view: str, ask: Callable[[], object]) -> None:
        insides = self._controller.insides
        insides.origin, insides.coming = self._view(), True
        self._show_view(view)
        insides.coming = False
        ask()

    def _go_back(self) -> None:
        insides = self._controller.insides
        if insides.origin:
            view, insides.origin = insides.origin, ""
            self._show_view(view)
            insides.left.emit()

    def _forget(self) -> None:
        self._controller.insides.origin = ""
