"""A hundred stories that nobody would write, by their names: each is read, or refused with a sentence."""

from collections.abc import Mapping

HEAD = 'title = "t"\n'
GOOD = HEAD + '[[stop]]\npage = "profile"\n'
LARGE = 1 << 20


def stop(page: str = "profile", **fields: str) -> str:
    """A story of one stop, its fields as TOML spells them."""
    told = "".join(f"{name} = {value}\n" for name, value in fields.items())
    return f'{HEAD}[[stop]]\npage = "{page}"\n{told}'


def text(value: str) -> str:
    """A text as TOML spells it."""
    return f'"{value}"'


NUMBERS = {
    "a seqlen of 5,000 digits": "9" * 5000,
    "a seqlen of 5,000 digits below 0": "-" + "9" * 5000,
    "a seqlen in hexadecimal of 100,000 digits": "0x" + "f" * 100_000,
    "a seqlen in binary of a million digits": "0b" + "1" * 1_000_000,
    "a seqlen of 10^400": "1" + "0" * 400,
    "a seqlen of 1e400": "1e400",
    "a seqlen of 1e-400": "1e-400",
    "a seqlen that is NaN": "nan",
    "a seqlen without end": "inf",
    "a seqlen that is a half": "0.5",
    "a seqlen of 0": "0",
    "a seqlen of -0": "-0",
    "a seqlen of -1": "-1",
    "a seqlen of 2^30": str(1 << 30),
    "a seqlen of 2^30 + 1": str((1 << 30) + 1),
    "a seqlen with underscores": "_".join("1" * 2000),
    "a seqlen that is a date": "2026-01-01",
    "a seqlen that is true": "true",
    "a seqlen that is a list": "[1]",
    "a seqlen that is a table": "{a = 1}",
}
SENTENCES = {
    "blanks as Python spells them": "{0.__class__.__mro__} {runtime.__class__} %s {!r} {n:>999999999} {n!s}",
    "a blank of a path": "{n} {fate of ../../x} {runtime of <b>}",
    "a blank of 1,900 letters": "{" + "a" * 1900 + "}",
    "a blank of 900 words": "{" + "a " * 900 + "}",
    "a blank that grows for ever": "{" + "growth of " * 190 + "}",
    "blanks of nothing": "{}" * 900,
    "open blanks": "{" * 1900,
    "closed blanks": "}" * 1900,
    "a blank at a length beyond all": "{runtime at " + "9" * 1000 + "}",
    "markup": "<b>bold</b> <a href='file:///etc/passwd'>x</a> <script>1</script>",
    "a sentence that turns around": "\\u202e\\u2066 abc \\u200b",
    "a sentence of control characters": "\\u0000\\u0007\\u001b[2J\\u009b",
    "a sentence beyond 2,000 letters": "x" * 2001,
    "a sentence that ends in a backslash": "x\\\\",
}
NESTED = {
    "a dotted key of 800,000 letters": "a" + ".a" * 400_000 + " = 1\n",
    "a dotted key of 120,000 letters": "a" + ".a" * 60_000 + " = 1\n",
    "a dotted key with blanks": "a" + " . a" * 60_000 + " = 1\n",
    "a dotted key in quotes": '"a"' + '."a"' * 60_000 + " = 1\n",
    "a dotted key in single quotes": "'a'" + ".'a'" * 60_000 + " = 1\n",
    "a dotted header": "[a" + ".a" * 60_000 + "]\n",
    "a dotted header of a list": "[[a" + ".a" * 60_000 + "]]\n",
    "a dotted key in a table": "a = {b" + ".b" * 60_000 + " = 1}\n",
    "dotted keys of 15 parts": "".join(f"a{k}" + ".a" * 14 + " = 1\n" for k in range(20_000)),
    "lists in lists": "a = " + "[" * 100_000,
    "200 lists in lists": "a = " + "[" * 200 + "]" * 200,
    "tables in tables": "a = " + "{a = " * 100_000,
    "keys without end": "".join(f"k{k} = 1\n" for k in range(70_000)),
    "tables without end": "".join(f"[t{k}]\n" for k in range(90_000)),
    "a key of a million letters": "a" * (LARGE - 100) + " = 1\n",
    "a word of a million letters": "a" * (LARGE - 100),
    "a million quotes": '"' * (LARGE - 100),
    "a million dots": "." * (LARGE - 100),
    "a comment of a million letters": GOOD + "#" * (LARGE - 100),
}
STOPS = {
    "100 stops": HEAD + '[[stop]]\npage = "profile"\n' * 100,
    "99 stops": HEAD + '[[stop]]\npage = "profile"\n' * 99,
    "60,000 stops": HEAD + "[[stop]]\npage=''\n" * 60_000,
    "no stop": HEAD,
    "an empty list of stops": HEAD + "stop = []\n",
    "stops that are no list": HEAD + "stop = 1\n",
    "stops that are texts": HEAD + 'stop = ["x"]\n',
    "stops in a line": HEAD + 'stop = [{page = "profile"}]\n',
    "nothing": "",
    "no title": '[[stop]]\npage = "profile"\n',
    "a title that is a list": 'title = [1]\n[[stop]]\npage = "profile"\n',
    "a title beyond 100 letters": 'title = "' + "t" * 101 + '"\n[[stop]]\npage = "profile"\n',
    "two titles": HEAD + GOOD,
    "a page that is a number": HEAD + "[[stop]]\npage = 1\n",
    "a page that is a list": HEAD + "[[stop]]\npage = [1]\n",
    "a page of 500,000 letters": HEAD + '[[stop]]\npage = "' + "x" * 500_000 + '"\n',
    "no page": HEAD + "[[stop]]\ntitle = 'x'\n",
    "a field that there is not": stop(**{"x" * 5000: "1"}),
    "a project's file": "[tool.ruff]\nline-length = 110\n",
    "wrong pages beside notes of the same words": HEAD
    + '[[stop]]\npage = "profile"\nnotes = """'
    + "page = 1\n" * 2000
    + '"""\n'
    + '[[stop]]\npage = "x"\n' * 90,
    "notes beyond 20,000 letters": stop(notes=text("x" * 20_001)),
}
FIELDS = {
    "a session of 900 letters": stop(session=text("a" * 900)),
    "a session of 100,000 letters": stop(session=text("a" * 100_000)),
    "a session with a NUL": stop(session=text("a\\u0000b")),
    "a session somewhere else": stop(session=text("../" * 20 + "etc/passwd")),
    "a session by its path": stop(session=text("/etc/passwd")),
    "a session that is a device": stop(session=text("/dev/zero")),
    "a session that is a pipe": stop(session=text("fifo")),
    "a session that is a folder": stop(session=text(".")),
    "a session in the memory of a process": stop(session=text("/proc/self/mem")),
    "kernels that are tables": stop(kernels="[{a = 1}]"),
    "33 kernels": stop(kernels="[" + '"k",' * 33 + "]"),
    "a kernel of 101 letters": stop(kernels=text("k" * 101)),
    "a kernel of control characters": stop(kernels=text("\\u0000\\u001b")),
    "five quantities": stop(quantity='["runtime"' + ', "runtime"' * 4 + "]"),
    "a quantity of 50,000 letters": stop(quantity=text("q" * 50_000)),
    "a step on a page without": stop(step="1"),
    "a step of NaN": stop("stepper", step="nan"),
    "a step far beyond": stop("stepper", step=str(1 << 20), preset=text("slide")),
    "a preset that there is not": stop("stepper", preset=text("p" * 90)),
    "panels that there are not": stop("stepper", panels='["x"]'),
    "lines that are no pattern": stop("ladder", kernels='["flash3-b"]', lines='["(((", "[a-"]'),
    "a curve of a ladder that there is not": stop("ladder", kernels='["x"]', curve=text("d 999999")),
    "a seqlen on a page without": stop("planner", seqlen="1"),
}
BYTES = {
    "a mark of the byte order": b"\xef\xbb\xbf" + GOOD.encode(),
    "UTF-16": GOOD.encode("utf-16"),
    "Latin 1": HEAD.encode() + b'x = "\xff"\n',
    "lines of Windows": GOOD.replace("\n", "\r\n").encode(),
    "lines of old": GOOD.replace("\n", "\r").encode(),
    "NUL": b"\0" * 1000,
    "a byte too many": GOOD.encode() + b"#" * (LARGE + 1 - len(GOOD)),
    "just as many bytes as may be": GOOD.encode() + b"#" * (LARGE - len(GOOD)),
}
STRANGE: Mapping[str, bytes] = {
    **{name: stop(seqlen=number).encode() for name, number in NUMBERS.items()},
    **{name: stop(sentence=text(words)).encode() for name, words in SENTENCES.items()},
    **{name: told.encode() for some in (NESTED, STOPS, FIELDS) for name, told in some.items()},
    **BYTES,
}
