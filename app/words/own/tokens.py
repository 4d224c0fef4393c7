"""What the words of CUDA and Python source are: comments, keywords, literals and directives."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

TokenKind = Literal["comment", "keyword", "literal", "directive"]


class Token(NamedTuple):
    """A part of a line that is of one kind: where it begins, its length, and which."""

    start: int
    length: int
    kind: TokenKind


def tokens_of(text: str, *, python: bool = False) -> list[Sequence[Token]]:
    """The tokens of each line that are not just names and signs, in CUDA C++ or in Python."""
    from pygments.lexers.c_like import CudaLexer  # noqa: PLC0415 - for who shows source alone
    from pygments.lexers.python import PythonLexer  # noqa: PLC0415 - as above

    lines: list[list[Token]] = [[]]
    at = 0
    lexer = (PythonLexer if python else CudaLexer)(stripnl=False, ensurenl=False)
    for kind, piece in lexer.get_tokens(text):
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
