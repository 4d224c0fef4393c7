"""The colours of a kernel's stages: told apart by everybody, and no kernel's own."""

from collections.abc import Mapping

from flashscope.app.look.theme import Theme
from flashscope.kernels.workload.timeline import STAGES

_COLOURS: Mapping[str, tuple[str, ...]] = {
    "dark": (
        *("#3F83D0", "#63CFE0", "#D9A825", "#2A9F76", "#D080AE"),
        *("#9D8CF2", "#E2703A", "#A6CF4A", "#C3CEDA", "#B08D5E", "#E5596B", "#F2EBD3"),
    ),
    "light": (
        *("#1B5FA8", "#1E93AE", "#B37B00", "#0B7A55", "#A8497F"),
        *("#6A4FCF", "#C2511A", "#5F8A0B", "#66788A", "#7A5C2E", "#C22F44", "#2B3A45"),
    ),
    "contrast": (
        *("#6FA8FF", "#8CF0FF", "#FFD23F", "#43E6A4", "#FF9AD0"),
        *("#B8A6FF", "#FF8A4C", "#C6F24A", "#DDE6F0", "#D2A56B", "#FF6B7D", "#FFFFFF"),
    ),
}


def stage_colours(theme: Theme) -> dict[str, str]:
    """The colour of each stage on a theme."""
    return dict(zip(STAGES, _COLOURS[theme.name], strict=True))
