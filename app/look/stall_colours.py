"""The colours of the parts of a bar of stalls: told apart by everybody, and named wherever they stand."""

from collections.abc import Mapping, Sequence

from flashscope.app.look.theme import Theme

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": ("#2A9F76", "#3F83D0", "#F0705A", "#A58BE0", "#D080AE", "#63CFE0", "#D9A825", "#5F6978"),
    "light": ("#0B7A55", "#1B5FA8", "#B83A22", "#6A4FB0", "#A8497F", "#1E93AE", "#B37B00", "#98A2AE"),
    "contrast": ("#43E6A4", "#6FA8FF", "#FF8F7A", "#C5B0FF", "#FF9AD0", "#8CF0FF", "#FFD23F", "#A9B4C2"),
}


def stall_colours(theme: Theme) -> Sequence[str]:
    """The colour of each part on a theme, those of all other reasons last."""
    return _COLOURS[theme.name]
