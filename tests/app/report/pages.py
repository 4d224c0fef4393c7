"""A page of HTML as a browser would take it apart."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "h3",
        "p",
        "div",
        "span",
        "ul",
        "li",
    ),
    *(
        "figure",
        "figcaption",
        "svg",
        "path",
        "text",
        "rect",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "b",
    ),
    *("dl", "dt", "dd", "pre", "details", "summary", "footer"),
}


@dataclass
class Seen(HTMLParser):
    """What is on a page: every element with its attributes, and all text outside the style sheet."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.lasttag != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def seen(page: bytes) -> Seen:
    """The parts of a page, which holds nothing that loads, runs or leads anywhere."""
    parsed = Seen()
    parsed.feed(page.decode())
    assert {tag for tag, _ in parsed.tags} <= ALLOWED
    for _, attributes in parsed.tags:
        assert not {"href", "src", "style", "srcdoc", "action", "xlink:href"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert b"url(" not in page
    assert b"@import" not in page
    return parsed
