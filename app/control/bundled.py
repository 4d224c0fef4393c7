"""The recordings that come with the program: of real GPUs, and of a CPU for timelines and audits."""

from pathlib import Path

from flashscope.app.look.assets import ASSETS
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.store import SUFFIX, SessionFileError

BUNDLED = ASSETS / "sessions"
# The lesson, the ladder beside libraries, all that is counted; few query rows, few tiles, gradients;
# the libraries on another GPU, decoding and drawn problems there; rates of its caches; traces of timed
# kernels; timelines; stalls; cuts side by side; one sequence on several GPUs.
NAMES = {
    "h200-standard-flash2": "H200 standard and flash2",
    "h200-peers": "H200 beside libraries",
    "h200-traffic": "H200 traffic, energy and roof",
    "h200-decode": "H200 decoding",
    "h200-thin": "H200 small problems",
    "h200-backward": "H200 backward",
    "h200-drawn": "H200 drawn problems",
    "h100-peers": "H100 beside libraries",
    "h100-decode": "H100 decoding",
    "h100-thin": "H100 small problems",
    "h100-backward": "H100 backward",
    "h100-drawn": "H100 drawn problems",
    "h100-caches": "H100 caches",
    "h200-inside": "H200 inside flash2 and flash3",
    "h100-trace": "H100 trace of flash3",
    "h100-stalls": "H100 stalls of flash2 and flash3",
    "cpu-timelines": "CPU timelines of flash1 and flash2",
    "h200-timelines": "H200 timelines of flash1 to flash3",
    "h200-cuts": "H200 cuts of flash2 and flash3",
    "h100-cuts": "H100 cuts of flash2 and flash3",
    "h100-ranks": "H100 attention on several GPUs",
    "h100-ranks-long": "H100 long sequences on four GPUs",
    "h100-ranks-512k": "H100 backward at 512k on four GPUs",
    "h100-ranks-longest": "H100 longest sequences",
}
ON_A_GPU = {
    "h200-audit-gemma2": "Gemma-2",
    "h200-audit-gpt-oss": "gpt-oss",
    "h200-audit-deepseek": "DeepSeek-V3",
}
ON_A_CPU = {
    "cpu-audit-llama3": "Llama-3",
    "cpu-audit-mistral": "Mistral",
    "cpu-audit-qwen3": "Qwen3",
    "cpu-audit-gemma2": "Gemma-2",
    "cpu-audit-gpt-oss": "gpt-oss",
    "cpu-audit-deepseek": "DeepSeek-V3",
    "cpu-audit-vit": "ViT",
    "cpu-audit-dit": "DiT",
    "cpu-audit-whisper": "Whisper",
}
AUDITS = {name: f"{model}, H200" for name, model in ON_A_GPU.items()}
AUDITS |= {name: f"{model}, CPU" for name, model in ON_A_CPU.items()}
"""Audits of models by what is audited, and where: few layers each, and small in width on a CPU."""
NAMES |= {name: f"H200 audit of {model}" for name, model in ON_A_GPU.items()}
NAMES |= {name: f"CPU audit of {model}" for name, model in ON_A_CPU.items()}
COUNTED, INSIDE = "h200-traffic", "h200-inside"
CLOCKED, CLOCKED_ON_A_CPU = "h200-timelines", "cpu-timelines"
STALLED, CUTS, RANKS = "h100-stalls", "h200-cuts", "h100-ranks"
# For one view each, which leads to it, or like another one, and in the Library alone.
SPECIAL = {
    *("h100-caches", INSIDE, CLOCKED, CLOCKED_ON_A_CPU, STALLED, CUTS, RANKS),
    *("h200-thin", "h200-drawn"),
    *("h100-backward", "h100-decode", "h100-thin", "h100-drawn", "h100-cuts", "h100-trace"),
    *("h100-ranks-long", "h100-ranks-512k", "h100-ranks-longest"),
    *AUDITS,
}
BACKWARD, DECODING = "h200-backward", "h200-decode"
# In problems.
ALIKE = {"h200-standard-flash2", "h200-peers", "h200-traffic", "h100-peers"}


def bundled_sessions() -> list[Path]:
    """Session files that come with the program, in the order of `NAMES`; empty when this copy has none."""
    return [path for name in NAMES if (path := BUNDLED / f"{name}{SUFFIX}").is_file()]


def told_sessions() -> list[Path]:
    """Those whose curves tell something by themselves."""
    return [path for path in bundled_sessions() if path.stem not in SPECIAL]


def inside_recording() -> Path | None:
    """The bundled recording that has traces of kernels as they are timed on a GPU."""
    return next((path for path in bundled_sessions() if path.stem == INSIDE), None)


def inside_title() -> str:
    """What that recording is called; empty: this copy has none."""
    return NAMES[INSIDE] if inside_recording() is not None else ""


def clocked_recording() -> Path | None:
    """The bundled recording that has timelines of all steps of the ladder on a GPU."""
    return next((path for path in bundled_sessions() if path.stem == CLOCKED), None)


def cpu_clocked_recording() -> Path | None:
    """The bundled recording that has timelines of a CPU."""
    return next((path for path in bundled_sessions() if path.stem == CLOCKED_ON_A_CPU), None)


def ranks_recording() -> Path | None:
    """The bundled recording of one sequence on several GPUs."""
    return next((path for path in bundled_sessions() if path.stem == RANKS), None)


def stalls_recording() -> Path | None:
    """The bundled recording that has stall profiles."""
    return next((path for path in bundled_sessions() if path.stem == STALLED), None)


def stalls_title() -> str:
    """What that recording is called; empty: this copy has none."""
    return NAMES[STALLED] if stalls_recording() is not None else ""


def cuts_recording() -> Path | None:
    """The bundled recording that has landscapes of cuts."""
    return next((path for path in bundled_sessions() if path.stem == CUTS), None)


def audit_recordings() -> list[Path]:
    """The bundled audits of models, in the order of `AUDITS`; empty where this copy has none."""
    return [path for path in bundled_sessions() if path.stem in AUDITS]


def counted_recording() -> Path | None:
    """The bundled recording that has hardware counters, and with them something in every view."""
    return next((path for path in bundled_sessions() if path.stem == COUNTED), None)


def counted_title() -> str:
    """What that recording is called; empty: this copy has none."""
    return NAMES[COUNTED] if counted_recording() is not None else ""


def recording_like(problem: Problem | None) -> Path | None:
    """The bundled recording of what is most like a problem; None: this copy has none."""
    alike = "" if problem is None else _alike(problem)
    sessions = bundled_sessions()
    return next((path for path in sessions if path.stem == alike), next(iter(sessions), None))


def _alike(problem: Problem) -> str:
    if problem.runs_backward:
        return BACKWARD
    return DECODING if problem.seqlen_q < problem.seqlen_k else ""


def alike_recordings() -> list[Path]:
    """Bundled recordings that have problems in common and can be compared."""
    return [path for path in bundled_sessions() if path.stem in ALIKE]


def is_own(path: Path) -> bool:
    """Whether a file is the user's, not one that comes with the program."""
    return path.resolve().parent != BUNDLED.resolve()


def check_own(path: Path) -> None:
    """Refuse to write a file that comes with the program.

    Raises:
        SessionFileError: It does.
    """
    if not is_own(path):
        raise SessionFileError(f"{path} comes with the program and stays as it is; work with a copy of it.")
