"""HTML and SVG as trees: text is escaped where the tree is written, and nowhere else."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias
from xml.etree.ElementTree import Element, SubElement, tostring

from flashscope.app.words.plain import cut_short
from flashscope.profiles.wire.text import harmless

MarkupChild: TypeAlias = Element | str


def tag(name: str, /, *children: MarkupChild, **attributes: object) -> Element:
    """An element; `class_` is the attribute class, an underscore in a name a hyphen."""
    written = {key.rstrip("_").replace("_", "-"): harmless(str(value)) for key, value in attributes.items()}
    made = Element(name, written)
    for child in children:
        _append(made, child)
    return made


def _append(parent: Element, child: MarkupChild) -> None:
    if isinstance(child, Element):
        parent.append(child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + cut_short(harmless(child))
    else:
        parent.text = (parent.text or "") + cut_short(harmless(child))


def table_element(
    headings: Sequence[str], lines: Iterable[Sequence[MarkupChild]], *, keys: int = 1
) -> Element:
    """A table; the first columns say what a line is about."""
    made = tag("table")
    head = SubElement(SubElement(made, "thead"), "tr")
    head.extend(tag("th", title, scope="col") for title in headings)
    body = SubElement(made, "tbody")
    for line in lines:
        row = SubElement(body, "tr")
        row.extend(tag("th" if place < keys else "td", cell) for place, cell in enumerate(line))
    return tag("div", made, class_="scroll")


def facts(pairs: Iterable[tuple[str, str]]) -> Element:
    """Names and values under one another."""
    made = tag("dl")
    for name, value in pairs:
        made.extend((tag("dt", name), tag("dd", value)))
    return made


def page(title: str, style: str, body: Iterable[Element]) -> bytes:
    """A whole page that loads nothing and runs nothing; `style` is our own."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    styles = Element("style")
    styles.text = style
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        styles,
    )
    root = tag("html", head, tag("body", tag("main", *body)), lang="en")
    written: bytes = tostring(root, encoding="utf-8", method="html")
    return b"<!DOCTYPE html>\n" + written + b"\n"
