"""The project's pages in Markdown, and what is written in them."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (".github", "app", "kernels", "profiles", "tests")
PAGES = tuple(
    page.relative_to(ROOT).as_posix()
    for page in sorted(
        [*ROOT.glob("*.md"), *(one for folder in FOLDERS for one in (ROOT / folder).rglob("*.md"))]
    )
)


def text(page: str) -> str:
    """A page as it is written."""
    return (ROOT / page).read_text(encoding="utf-8")


def sentences(page: str) -> str:
    """A page with single spaces, however its lines break."""
    return " ".join(text(page).split())


def says(page: str, *texts: str) -> None:
    """The page has each of these texts."""
    for one in texts:
        assert one in sentences(page), one


def table_after(page: str, marker: str) -> list[list[str]]:
    """The cells of the first table behind a text, its two lines of heading left out."""
    after = text(page).partition(marker)[2]
    assert after, marker
    lines = after[after.index("\n|") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def links(page: str) -> list[str]:
    """What the page links to, pictures included."""
    return re.findall(r"\]\(([^)\s]+)\)", _without_fences(text(page)))


def anchors(page: str) -> set[str]:
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _without_fences(text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def code(page: str) -> Iterator[str]:
    """Every piece of code: a line of a fenced block, or what stands between backticks."""
    for block in re.findall(r"^```.*\n((?:.*\n)*?)```", text(page), re.MULTILINE):
        yield from block.splitlines()
    for span in re.findall(r"`([^`]+)`", _without_fences(text(page))):
        yield " ".join(span.split())


def _without_fences(written: str) -> str:
    return re.sub(r"^```(?:.*\n)*?```$", "", written, flags=re.MULTILINE)
