"""The Stepper's actions: for its keys, its buttons, the menu and the palette."""

from collections.abc import Callable

from flashscope.app.control.actions import Action, staged
from flashscope.app.stepper.modes import MODES
from flashscope.app.stepper.presets import PRESETS


def motion_actions(do: dict[str, Callable[[], None]]) -> dict[str, Action]:
    """The actions of the transport bar, by key; `do` maps each of them to its function."""
    words = (
        ("start", "Go to the start", "Home"),
        ("previous_event", "Go to the previous event", "["),
        ("previous_tile", "Go back one tile", "Shift+Left"),
        ("back", "Step back", "Left; PgUp"),
        ("play", "Play or pause", "Space"),
        ("forward", "Step forward", "Right; PgDown"),
        ("next_tile", "Go on one tile", "Shift+Right"),
        ("next_event", "Go to the next event", "]"),
        ("end", "Go to the end", "End"),
    )
    actions = (Action(f"stepper.{key}", title, do[key], "Stepper", keys) for key, title, keys in words)
    return {action.key: action for action in staged(*actions)}


def preset_actions(show: Callable[[str], None], type_scores: Callable[[], None]) -> list[Action]:
    """One action for each preset, and one for scores of one's own; they work from every page."""
    presets = [
        Action(
            f"stepper.preset.{preset.key}",
            f"Step through: {preset.title}",
            lambda key=preset.key: show(key),  # type: ignore[misc]  # a default binds the loop's value
            "Stepper",
            everywhere=True,
        )
        for preset in PRESETS
    ]
    own = Action(
        "stepper.scores",
        "Step through: own scores …",
        type_scores,
        "Stepper",
        "S",
        everywhere=True,
        keys_on=("stepper",),
    )
    return [*presets, own]


def mode_actions(show: Callable[[str], None], show_next: Callable[[], None]) -> list[Action]:
    """One action for each mode, and one for the next of them; none while there is a single one."""
    if len(MODES) == 1:
        return []
    modes = (
        Action(
            f"stepper.mode.{mode.key}",
            f"Show the Stepper as {mode.title}",
            lambda key=mode.key: show(key),  # type: ignore[misc]  # a default binds the loop's value
            "Stepper",
        )
        for mode in MODES
    )
    return staged(*modes, Action("stepper.next_mode", "Go to the next mode", show_next, "Stepper", "M"))
