"""Finds names by a few of their letters."""

import re


def nothing_found(query: str) -> str:
    """What stands where nothing fits."""
    return f"Nothing found for “{query.strip()}”."


def match(query: str, text: str, beside: str = "") -> int | None:
    """Score of a fuzzy match, 0 for the best; None: neither the query's words occur nor its letters in order.

    The query as a whole at the begin of a word comes first, then within one; then its words in any order,
    which may stand beside the text, too; then its letters scattered over the text.
    """
    wanted, folded = query.casefold().strip(" "), text.casefold()
    if _begins_word(wanted, folded):
        return 0
    if wanted in folded:
        return 1
    words, everywhere = wanted.split(), f"{folded}\n{beside.casefold()}"
    if all(_begins_word(word, everywhere) for word in words):
        return 2
    if all(word in everywhere for word in words):
        return 3
    skipped = _skipped(wanted.replace(" ", ""), folded)
    return None if skipped is None else 4 + skipped


def _begins_word(wanted: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(wanted)}", text) is not None


def _skipped(letters: str, text: str) -> int | None:
    """How many characters lie between letters found one after the other, except where one begins a word."""
    position, skipped = 0, 0
    for letter in letters:
        at = text.find(letter, position)
        if at < 0:
            return None
        starts_word = at == 0 or not text[at - 1].isalnum()
        skipped += 0 if starts_word else at - position
        position = at + 1
    return skipped
