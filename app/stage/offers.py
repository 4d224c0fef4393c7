"""What a sentence of a stop may have filled in, each with its value now."""

from collections.abc import Iterable, Mapping, Sequence

from flashscope.app.stage.blanks import OF_KERNELS, Filled, filled
from flashscope.app.stage.numbers import NUMBERS
from flashscope.app.stage.scene import Scene
from flashscope.profiles.results.quantities.registry import QUANTITIES

WHERE = "Where the crosshair stands"
STEP = "This step"
TIMELINES, STALLS = "These timelines", "These stalls"
MOST_KERNELS = 12  # in a menu
COMPARED = "runtime", "footprint"


def offers(scene: Scene) -> Mapping[str, Sequence[Filled]]:
    """The blanks that can be filled from what is on show, by what they speak of."""
    if scene.numbers and scene.kernel:  # those of timelines and stalls have kernels in their names
        of = STALLS if f"issued of {scene.kernel}" in scene.numbers else TIMELINES
        return {of: _known([f"{{{name}}}" for name in ("n", *scene.numbers)], scene)}
    if scene.numbers:
        return {STEP: _known([f"{{{name}}}" for name in NUMBERS], scene)}
    kernels = dict.fromkeys(row.kernel for row in scene.rows if row.seqlen == scene.seqlen)
    first = [name for name in (scene.kernel, scene.baseline) if name in kernels]
    named = [*dict.fromkeys([*first, *kernels])][:MOST_KERNELS]
    found = {WHERE: _known(["{n}"], scene)} | {name: _known(_of(name, scene), scene) for name in named}
    return {of: blanks for of, blanks in found.items() if blanks}


def _of(kernel: str, scene: Scene) -> Iterable[str]:
    """What may be said of a kernel: its fate, comparisons, growth, figures, its idea."""
    yield f"{{fate of {kernel}}}"
    if scene.baseline and scene.baseline != kernel:
        yield from (f"{{{name} of {kernel} against {scene.baseline}}}" for name in COMPARED)
    yield from (f"{{growth of {name} of {kernel}}}" for name in COMPARED)
    yield from (f"{{{name} of {kernel}}}" for name in QUANTITIES)
    yield from (f"{{{name} of {kernel}}}" for name in OF_KERNELS if name != "fate")


def _known(blanks: Iterable[str], scene: Scene) -> list[Filled]:
    return [one for blank in blanks for one in filled(blank, scene) if not one.problem]
