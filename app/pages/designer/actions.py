"""What a user can do in the Designer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from flashscope.app.control.actions import Action
from flashscope.app.pages.designer.lineup import KEEP, KEEP_WORDS, RECORDED, RECORDED_WORDS

if TYPE_CHECKING:
    from flashscope.app.pages.designer.page import DesignerPage


def designer_actions(page: "DesignerPage") -> list[Action]:
    """The page's actions, those of its buttons first."""

    def act(key: str, title: str, do: Callable[[], None], keys: str) -> Action:
        return Action(f"designer.{key}", title, do, "Designer", keys)

    def inner(by: int) -> Callable[[], None]:
        return lambda: (page.tiles if page.choices.on_cpu else page.knobs).turn_inner(by)

    def first(by: int) -> Callable[[], None]:
        return lambda: (page.tiles if page.choices.on_cpu else page.knobs).turn_first(by)

    return [
        *page.bar.actions_offered,
        act("kernel", "Design the next kernel", page.choices.next_kernel, "K"),
        act("time", "Time all cuts that fit on the device in use", page.time_cuts, "T"),
        act("more-keys", "Take more keys, or queries, a tile", inner(1), "Right"),
        act("fewer-keys", "Take fewer keys, or queries, a tile", inner(-1), "Left"),
        act("more-rows", "Take more of the first number", first(1), "Down"),
        act("fewer-rows", "Take fewer of the first number", first(-1), "Up"),
        act("colours", "Colour the cuts by the next quantity", page.landscape.next_colours, "Q"),
        Action(KEEP, KEEP_WORDS, page.lineup.keep, "Designer"),
        Action(RECORDED, RECORDED_WORDS, page.open_recorded, "Designer"),
    ]
