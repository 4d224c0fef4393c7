"""The colours of the parts of a bar of stalls: told apart by everybody, and named wherever they stand."""

from collections.abc import Mapping, Sequence

from flashscope.app.look.theme import Theme

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": ("#2A9F76", "#F0705A", "#A58BE0", "#D080AE", "#D9A825", "#63CFE0", "#3F83D0", "#5F6978"),
    "light": ("#0B7A55", "#B83A22", "#6A4FB0", "#A8497F", "#B37B00", "#1E93AE", "#1B5FA8", "#98A2AE"),
    "contrast": ("#43E6A4", "#FF8F7A", "#C5B0FF", "#FF9AD0", "#FFD23F", "#8CF0FF", "#6FA8FF", "#A9B4C2"),
}


def stall_colours(theme: Theme) -> Sequence[str]:
    """The colour of each part on a theme, those of all other reasons last."""
    return _COLOURS[theme.name]
