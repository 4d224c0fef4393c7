"""A launch in slow motion in words."""

from flashscope.app.words.inside.timelines import problem_words
from flashscope.app.words.units import ms_text
from flashscope.kernels.workload.live import LiveRequest
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted

SLOW = "In slow motion, never timed"
WAITS = "the kernel waits between its tiles"
BOARDS = "query blocks down, key blocks to the right · hatched: the mask skips it"
SM_ROWS = (
    "A row for each SM, a bar for each tile: it begins where the tile was done and lasts as long as the wait "
    "after it. In full colour two blocks run on the SM side by side."
)
NS = 1e9


def title_of(request: LiveRequest) -> str:
    """What is launched."""
    where = "CPU" if request.backend == "cpu" else "GPU"
    return f"{SLOW}: {request.kernel} on the {where}, {problem_words(request.problem)}"


def progress_text(started: LiveStarted, done: int, elapsed_ns: int) -> str:
    """How far it is."""
    share = started.tile_ns / NS
    each = f"{share:.3g} s" if share >= 1 else ms_text(share * 1e3)
    waits = f"{WAITS}, {each} after each" if share else WAITS
    seconds = f"{elapsed_ns / NS:.1f} of {started.request.seconds:g} s"
    return f"{done} of {started.tiles} tiles · {seconds} · {waits}"


def at_work_text(busy: int, multiprocessors: int, *, shared: bool) -> str:
    """How many SMs have had anything to do, and how one looks that two blocks share."""
    told = f"{busy} of {multiprocessors} SMs have done a tile"
    return f"{told} · in full colour: two blocks at once" if shared else told


def ended_text(tiles: int, ended: LiveEnded) -> str:
    """What came of it."""
    same = "the kernel's own to the bit" if ended.same else "NOT the kernel's own"
    return f"All {tiles} tiles done in {ended.took_ns / NS:.1f} s, waits included · O and LSE are {same}"


def stopped_text(done: int, tiles: int, reason: str) -> str:
    """Why it ended before its end."""
    return f"{done} of {tiles} tiles were done. {reason}" if tiles else reason
