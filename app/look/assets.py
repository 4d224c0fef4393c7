"""Where the pictures, fonts, recordings and stories are that come with the program, if they are all there."""

from pathlib import Path

from flashscope.installation import restore_command

ASSETS = Path(__file__).parents[2] / "assets"
RECORDINGS = (
    "backward",
    "cuts",
    "decode",
    "drawn",
    "inside",
    "peers",
    "standard-flash2",
    "thin",
    "timelines",
    "traffic",
)
AUDITED_ON_AN_H200 = "deepseek", "gemma2", "gpt-oss"
AUDITED = "deepseek", "dit", "gemma2", "gpt-oss", "llama3", "mistral", "qwen3", "vit", "whisper"
RANKS = "ranks", "ranks-512k", "ranks-long", "ranks-longest"
ON_AN_H100 = "backward", "caches", "cuts", "decode", "drawn", "peers", *RANKS, "stalls", "thin", "trace"
STORIES = "flash1-to-flash3", "inside-flash3", "online-softmax", "why-tiling-wins"
MARKS = "check", "down", "left", "right", "up"
USED = (
    "icon.svg",
    *(f"fonts/{name}" for name in ("DejaVuSansMono.ttf", "Inter-Regular.otf", "Inter-SemiBold.otf")),
    *(f"marks/{mark}-{of}.svg" for mark in MARKS for of in ("contrast", "dark", "light")),
    "sessions/cpu-timelines.flashscope",
    *(f"sessions/cpu-audit-{name}.flashscope" for name in AUDITED),
    *(f"sessions/h200-audit-{name}.flashscope" for name in AUDITED_ON_AN_H200),
    *(f"sessions/h100-{name}.flashscope" for name in ON_AN_H100),
    *(f"sessions/h200-{name}.flashscope" for name in RECORDINGS),
    *(f"stories/{name}.toml" for name in STORIES),
)
"""The files that the program reads, by their places in the folder."""


def missing_assets() -> list[str]:
    """Those of the files that are not there; empty when this copy is whole."""
    return [name for name in USED if not (ASSETS / name).is_file()]


def why_incomplete() -> str:
    """What this copy lacks and how to get it back; empty when it is whole."""
    first, *others = missing_assets() or [""]
    if not first:
        return ""
    more = f" and {len(others)} more of its files" if others else ""
    return (
        f"This copy of Flashscope is incomplete, and so is what it shows: assets/{first}{more} cannot be "
        f"found. Get them back with {restore_command()}"
    )
