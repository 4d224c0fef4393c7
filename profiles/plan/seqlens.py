"""Sequence lengths as people write them: one grammar for the form and the command line."""

import itertools
from collections.abc import Iterator, Sequence

LONGEST = 1 << 24  # far beyond what any machine holds; keeps a slip of the finger from building a huge plan
MOST = 256  # lengths of one sweep
KIB = 1024
FACTORS = {"k": KIB, "m": KIB**2}


class SeqlenError(ValueError):
    """The text is not a list of sequence lengths; the message says what is accepted."""


def parse_seqlens(text: str) -> tuple[int, ...]:
    """Read `256:16384` (doubling), `256:4096:256` (linear), single lengths, or a list of these.

    Items are separated by commas or blanks; `4k` is 4096, `1m` 1048576. The result is sorted and
    free of repetitions, and MOST long at most.

    Raises:
        SeqlenError: Something in it is not a length or a range; the text names it.
    """
    items = text.replace(",", " ").split()
    if not items:
        raise SeqlenError("Give at least one sequence length, for example 256:16384 or 256, 384, 1000.")
    lengths: set[int] = set()
    for item in items:
        lengths.update(_lengths(item))
        if len(lengths) > MOST:
            raise SeqlenError(f"That is more than {MOST} sequence lengths; use a larger step.")
    return tuple(sorted(lengths))


def parse_seqlen(text: str) -> int:
    """Read one length, spelled as in a list of them: `4096`, `4k` or `1m`.

    Raises:
        SeqlenError: It is not one.
    """
    return _length(text, text)


def format_seqlens(lengths: Sequence[int]) -> str:
    """The shortest text that `parse_seqlens` reads back as the same lengths."""
    if len(lengths) > 2 and all(b == 2 * a for a, b in itertools.pairwise(lengths)):  # noqa: PLR2004 - two are no range
        return f"{lengths[0]}:{lengths[-1]}"
    return ",".join(map(str, lengths))


def short_seqlen(seqlen: int) -> str:
    """A sequence length, short: 16384 is 16k."""
    return f"{seqlen // KIB}k" if seqlen >= KIB and seqlen % KIB == 0 else str(seqlen)


def _lengths(item: str) -> Iterator[int]:
    parts = [_length(part, item) for part in item.split(":")]
    match parts:
        case [single]:
            yield single
        case [first, last] if first <= last:
            while first <= last:
                yield first
                first *= 2
        case [first, last, step] if first <= last:
            # One more than may be listed is enough for the caller to refuse the rest.
            yield from range(first, last + 1, step)[: MOST + 1]
        case [first, last, *_] if first > last:
            raise SeqlenError(f"The range {item} runs backwards; write {last}:{first}.")
        case _:
            raise SeqlenError(f"{item} is not a range; write first:last or first:last:step.")


def _length(part: str, item: str) -> int:
    factor = FACTORS.get(part[-1:].lower(), 1)
    digits = part if factor == 1 else part[:-1]
    if not (digits.isascii() and digits.isdecimal()):
        raise SeqlenError(
            f"{item} is not a sequence length; write a number as 4096, 4k or 1m, 256:16384 or 256:4096:256."
        )
    length = int(digits) * factor if len(digits) <= len(str(LONGEST)) else LONGEST + 1
    if not 1 <= length <= LONGEST:
        told = f"{part:.40}" if part == item else f"{part:.40} in {item:.40}"
        raise SeqlenError(f"{told} is out of range: sequence lengths and steps run from 1 to {LONGEST}.")
    return length
