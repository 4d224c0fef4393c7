"""Finds names by a few of their letters."""

import re


def nothing_found(query: str) -> str:
    """What stands where nothing fits."""
    return f"Nothing found for “{query.strip()}”."


def match(query: str, text: str) -> int | None:
    """Score of a fuzzy match, 0 for the best; None unless the text has the query's letters in this order.

    The query as a whole at the begin of a word comes first, then within one, then its letters scattered.
    """
    wanted, folded = query.casefold().strip(" "), text.casefold()
    if re.search(rf"(?<!\w){re.escape(wanted)}", folded):
        return 0
    if wanted in folded:
        return 1
    skipped = _skipped(wanted.replace(" ", ""), folded)
    return None if skipped is None else 2 + skipped


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
