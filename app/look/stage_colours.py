"""The colours of a kernel's stages: told apart by everybody, and no kernel's own."""

from collections.abc import Mapping

from flashscope.app.look.theme import Theme
from flashscope.kernels.workload.timeline import STAGES

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": ("#3F83D0", "#63CFE0", "#D9A825", "#2A9F76", "#D080AE"),
    "light": ("#1B5FA8", "#1E93AE", "#B37B00", "#0B7A55", "#A8497F"),
    "contrast": ("#6FA8FF", "#8CF0FF", "#FFD23F", "#43E6A4", "#FF9AD0"),
}


def stage_colours(theme: Theme) -> dict[str, str]:
    """The colour of each stage on a theme."""
    return dict(zip(STAGES, _COLOURS[theme.name], strict=True))
