"""What the words of CUDA source are: comments, keywords, literals and directives."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

TokenKind = Literal["comment", "keyword", "literal", "directive"]


class Token(NamedTuple):
    """A part of a line that is of one kind: where it begins, its length, and which."""

    start: int
    length: int
    kind: TokenKind


def tokens_of(text: str) -> list[Sequence[Token]]:
    """The tokens of each line that are not just names and signs."""
    from pygments.lexers.c_like import CudaLexer  # noqa: PLC0415 - for who shows source alone

    lines: list[list[Token]] = [[]]
    at = 0
    for kind, piece in CudaLexer(stripnl=False, ensurenl=False).get_tokens(text):
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
                at = 0
            if part.strip() and (shown := _kind(str(kind))):
                lines[-1].append(Token(at, len(part), shown))
            at += len(part)
    return list(lines)


def _kind(name: str) -> TokenKind | None:
    """By the lexer's own name of it, as `Token.Keyword.Type`."""
    if name.startswith("Token.Comment.Preproc"):
        return "directive"
    kinds: dict[str, TokenKind] = {"Comment": "comment", "Keyword": "keyword", "Literal": "literal"}
    return kinds.get(name.split(".")[1])
