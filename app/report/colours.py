"""The colours of a page: the window's own, light or dark as the reader's system is, light on paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import DARK, LIGHT, Theme

TOKENS = ("bg", "panel", "raised", "line", "text", "dim", "grid", "accent", "ok", "warn", "error")
STYLE = Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def classes_of(kernels: Sequence[str]) -> dict[str, str]:
    """The class of each kernel's colour: a name from a file never is one."""
    return {kernel: f"k{place}" for place, kernel in enumerate(kernels)}


def style(classes: Mapping[str, str]) -> str:
    """The style sheet."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{_tokens(DARK, classes)}}}\n"
    marks = "".join(f".{name} {{ color: var(--{name}); }}\n" for name in classes.values())
    return f"{_tokens(LIGHT, classes)}{dark}{marks}{STYLE}"


def _tokens(theme: Theme, classes: Mapping[str, str]) -> str:
    tokens = {token: getattr(theme, token) for token in TOKENS}
    tokens |= {name: kernel_mark(kernel).on(theme) for kernel, name in classes.items()}
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in tokens.items())} }}\n"
