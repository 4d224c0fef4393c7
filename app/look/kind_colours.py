"""The colours of the kinds of instructions: told apart by everybody, and named wherever they stand."""

from collections.abc import Mapping, Sequence

from flashscope.app.look.theme import Theme

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": ("#3F83D0", "#D9A825", "#2A9F76", "#63CFE0", "#D080AE", "#F0705A", "#A58BE0", "#5F6978"),
    "light": ("#1B5FA8", "#B37B00", "#0B7A55", "#1E93AE", "#A8497F", "#B83A22", "#6A4FB0", "#98A2AE"),
    "contrast": ("#6FA8FF", "#FFD23F", "#43E6A4", "#8CF0FF", "#FF9AD0", "#FF8F7A", "#C5B0FF", "#A9B4C2"),
}


def kind_colours(theme: Theme) -> Sequence[str]:
    """The colour of each of `KINDS` on a theme."""
    return _COLOURS[theme.name]
