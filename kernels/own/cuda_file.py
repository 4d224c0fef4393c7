"""What a `.cu` file declares of its kernel: a header of comment lines, and the parameters of its entry.

A line `// flashscope: key = value` says one thing. What it leaves out follows from the entry's parameters:
pointers are tensors and scalars are sizes by their names, dtypes are those of what pointers point to.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args

from flashscope.kernels.catalogue.own_kernel import OwnArgument, OwnBuffer, OwnLaunch, ScalarType
from flashscope.kernels.catalogue.spec import FEATURES, HEAD_DIMS
from flashscope.kernels.own.expression import SIZES, check
from flashscope.kernels.own.signature import POINTED, Parameter, code_of, entries, parameters
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import DTYPES, Dtype, Feature

TENSORS: Mapping[str, str] = {
    "q": "q",
    "k": "k",
    "v": "v",
    "o": "o",
    "out": "o",
    "output": "o",
    "lse": "lse",
    "do": "do",
    "dout": "do",
    "grad_output": "do",
    "dq": "dq",
    "dk": "dk",
    "dv": "dv",
}
"""Names of pointers, in small letters, and the tensors that they mean."""
SPELLED: Mapping[str, str] = {
    "batch": "B",
    "heads": "H",
    "kv_heads": "Hk",
    "seqlen": "N",
    "seqlen_q": "Nq",
    "seqlen_k": "Nk",
    "head_dim": "D",
    "softmax_scale": "scale",
    "is_causal": "causal",
    "window_left": "left",
    "window_right": "right",
}
"""Other names of sizes."""
OF_FILE = (
    *("name", "idea", "dtypes", "head_dims", "features", "min_compute_capability", "length_multiple"),
    *("workspace", "define"),
)
SAID: Mapping[str, str] = {"grid": "grid = ceil_div(Nq, 64), H, B", "threads": "threads = 64"}
"""What every launch must say, as it may be said."""
OF_LAUNCH = ("entry", "grid", "threads", "shared", "arguments")
TAKEN: frozenset[Feature] = frozenset({"causal", "window", "gqa"})
BUFFER_DTYPES = (*DTYPES, "int32", "uint8")
MOST_AXES = 3
_LINE = re.compile(r"^\s*(?://|\*)\s*flashscope( backward)?\s*:\s*(.*?)\s*$")
WIDEST = 1024  # head dim
_SPAN = re.compile(r"(\d{1,5})(?::(\d{1,5})(?::(\d{1,5}))?)?")
_PAIR = re.compile(r"(\w+)\s*=\s*(.+)")
_BUFFER = re.compile(r"(\w+)\s+(\w+)\s*\((.+)\)")


class HeaderLine(NamedTuple):
    """One line of the header, with its number in the file."""

    number: int
    backward: bool
    key: str
    value: str


class CudaText(NamedTuple):
    """What is known of a file.

    Attributes:
        file: Its name.
        code: Its text without comments.
        entries: Its `__global__` functions with their parameters.
        defined: The names that its header defines, which expressions may name, too.
    """

    file: str
    code: str
    entries: dict[str, str]
    defined: tuple[str, ...]


def read_cuda(text: str, file: str) -> dict[str, Any]:
    """The fields of an OwnKernel that a `.cu` file declares.

    Raises:
        InputError: Something is missing or wrong; the text says what, and in which line.
    """
    lines = list(_lines(text, file))
    code = code_of(text)
    defines = tuple(_defines([line for line in lines if line.key == "define"], file))
    source = CudaText(file, code, entries(code), tuple(name for name, _ in defines))
    if not source.entries:
        raise InputError(f"{file} has no __global__ function.")
    said = {
        line.key: line for line in lines if line.key in OF_FILE and line.key not in {"workspace", "define"}
    }
    workspace = tuple(_buffer(line, source) for line in lines if line.key == "workspace")
    buffers = frozenset(one.name for one in workspace)
    forward, backward = (
        tuple(_launches([one for one in lines if one.backward is which], source, buffers))
        for which in (False, True)
    )
    if not forward:
        examples = " and ".join(f"// flashscope: {said}" for said in SAID.values())
        raise InputError(f"{file}: say how to launch it, in lines like {examples}.")
    return {
        **({"name": said["name"].value} if "name" in said else {}),
        "idea": said["idea"].value if "idea" in said else "",
        "backends": ("cuda",),
        "dtypes": _dtypes(said.get("dtypes"), forward[0], source),
        "head_dims": _head_dims(said.get("head_dims"), file),
        "features": _features(said.get("features"), forward, source),
        "min_compute_capability": _capability(said.get("min_compute_capability"), file),
        "length_multiple": _multiple(said.get("length_multiple"), file),
        "launches": forward,
        "backward_launches": backward,
        "workspace": workspace,
        "defines": defines,
    }


def _lines(text: str, file: str) -> Iterator[HeaderLine]:
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.match(line)
        if found is None:
            continue
        pair = _PAIR.fullmatch(found[2])
        if pair is None:
            raise InputError(f"{file}, line {number}: {found[2]!r} is not of the form key = value.")
        if pair[1] not in (*OF_FILE, *OF_LAUNCH):
            known = ", ".join((*OF_FILE, *OF_LAUNCH))
            raise InputError(f"{file}, line {number}: {pair[1]} is no key; there are {known}.")
        yield HeaderLine(number, bool(found[1]), pair[1], pair[2])


def _launches(lines: list[HeaderLine], source: CudaText, buffers: frozenset[str]) -> Iterator[OwnLaunch]:
    """The launches of a pass: each `entry` begins one; without any there is one, of the only entry."""
    blocks: list[dict[str, HeaderLine]] = []
    for line in (one for one in lines if one.key in OF_LAUNCH):
        if line.key == "entry" or not blocks:
            blocks.append({})
        if line.key in blocks[-1]:
            raise InputError(f"{source.file}, line {line.number}: {line.key} is said twice of one launch.")
        blocks[-1][line.key] = line
    for block in blocks:
        yield _launch(block, source, buffers)


def _launch(block: Mapping[str, HeaderLine], source: CudaText, buffers: frozenset[str]) -> OwnLaunch:
    file, first = source.file, min(line.number for line in block.values())
    for key, said in SAID.items():
        if key not in block:
            raise InputError(f"{file}, line {first}: say its {key}, too, like // flashscope: {said}.")
    entry = block["entry"].value if "entry" in block else _only_entry(source)
    if entry not in source.entries:
        there = ", ".join(source.entries)
        raise InputError(f"{file}, line {first}: there is no __global__ function {entry}; there are {there}.")
    if 'extern "C"' not in source.code:
        raise InputError(f'{file}: write extern "C" before {entry}, so that it can be found by its name.')
    found = parameters(source.entries[entry])
    given = block.get("arguments")
    arguments = _given(given, found, entry, file) if given else [one.name for one in found]
    return OwnLaunch(
        entry=entry,
        grid=_axes(block["grid"], source),
        threads=_axes(block["threads"], source),
        shared=_checked(block["shared"].value, block["shared"], source) if "shared" in block else "0",
        arguments=tuple(
            _argument(value, one, (buffers, source.defined), f"{file}, {entry}")
            for value, one in zip(arguments, found, strict=True)
        ),
    )


def _only_entry(source: CudaText) -> str:
    if len(source.entries) > 1:
        names = ", ".join(source.entries)
        raise InputError(
            f"{source.file} has several __global__ functions ({names}); say entry = one of them."
        )
    return next(iter(source.entries))


def _given(line: HeaderLine, found: list[Parameter], entry: str, file: str) -> list[str]:
    """The arguments that the header lists, as many as there are parameters."""
    values = _split(line.value)
    if len(values) != len(found):
        raise InputError(
            f"{file}, line {line.number}: {entry} has {len(found)} parameters, not {len(values)}."
        )
    return values


def _argument(
    value: str, parameter: Parameter, known: tuple[frozenset[str], tuple[str, ...]], where: str
) -> OwnArgument:
    """What a parameter is given; `known`: the names of buffers, and those that are defined."""
    buffers, defined = known
    if parameter.pointer:
        tensor = value if value in buffers else TENSORS.get(value.lower(), "")
        if not tensor:
            names = ", ".join((*dict.fromkeys(TENSORS.values()), *sorted(buffers)))
            raise InputError(
                f"{where}: the pointer {value} is no tensor ({names}); "
                "name it so, or say all of them in order, like arguments = q, k, v, o, Nq, scale."
            )
        return OwnArgument(value=tensor)
    if parameter.scalar not in get_args(ScalarType):
        raise InputError(
            f"{where}: the type of {parameter.name} is none that is filled in: {parameter.text}."
        )
    expression = SPELLED.get(value, value)
    try:
        check(expression, defined)
    except InputError as error:
        raise InputError(
            f"{where}: {value} is filled in by its name. {error} Say arguments = ... where a name differs."
        ) from error
    return OwnArgument(value=expression, scalar=parameter.scalar)  # type: ignore[arg-type]


def _axes(line: HeaderLine, source: CudaText) -> tuple[str, ...]:
    axes = _split(line.value)
    if len(axes) > MOST_AXES:
        raise InputError(f"{source.file}, line {line.number}: {line.key} has {MOST_AXES} axes at most.")
    return tuple(_checked(axis, line, source) for axis in axes)


def _checked(text: str, line: HeaderLine, source: CudaText) -> str:
    try:
        return check(text, source.defined)
    except InputError as error:
        raise InputError(f"{source.file}, line {line.number}: {error}") from error


def _split(text: str) -> list[str]:
    """Parts between commas that are within no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _buffer(line: HeaderLine, source: CudaText) -> OwnBuffer:
    found = _BUFFER.fullmatch(line.value)
    if found is None or found[2] not in BUFFER_DTYPES:
        raise InputError(
            f"{source.file}, line {line.number}: "
            "a workspace is name dtype (sizes), as part float32 (B, H, Nq, D)."
        )
    shape = tuple(_checked(size, line, source) for size in _split(found[3]))
    return OwnBuffer(name=found[1], dtype=found[2], shape=shape)  # type: ignore[arg-type]


def _defines(lines: list[HeaderLine], file: str) -> Iterator[tuple[str, str]]:
    """Names and expressions, each over sizes and the names before it."""
    known: list[str] = []
    for line in lines:
        name, equals, value = (part.strip() for part in line.value.partition("="))
        where = f"{file}, line {line.number}"
        if not equals or not name.isidentifier():
            raise InputError(f"{where}: a define is define = NAME = expression.")
        if name in (*SIZES, *known):
            raise InputError(f"{where}: {name} has a value already; define another name.")
        try:
            yield name, check(value, known)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        known.append(name)


def _dtypes(line: HeaderLine | None, launch: OwnLaunch, source: CudaText) -> tuple[Dtype, ...]:
    if line is not None:
        dtypes = _split(line.value)
        wrong = [one for one in dtypes if one not in DTYPES]
        if wrong:
            raise InputError(f"{source.file}, line {line.number}: {wrong[0]} is none of {', '.join(DTYPES)}.")
        return tuple(one for one in DTYPES if one in dtypes)
    found = parameters(source.entries[launch.entry])
    of_q = next((one for one, given in zip(found, launch.arguments, strict=True) if given.value == "q"), None)
    if of_q is None or of_q.scalar not in POINTED:
        said = "// flashscope: dtypes = float16, bfloat16"
        raise InputError(f"{source.file}: say which it takes, like {said}.")
    return (POINTED[of_q.scalar],)


def _head_dims(line: HeaderLine | None, file: str) -> tuple[int, ...]:
    """Whole numbers, and spans first:last:step."""
    if line is None:
        return ()
    dims: set[int] = set()
    for part in _split(line.value):
        found = _SPAN.fullmatch(part)
        span = range(0)
        if found is not None:
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or HEAD_DIMS.step)
            span = range(first, last + 1, step) if step else span
        if not span or span[0] < 1 or span[-1] > WIDEST:
            raise InputError(
                f"{file}, line {line.number}: {part} is no head dim, nor first:last:step, up to {WIDEST}."
            )
        dims.update(span)
    return tuple(sorted(dims))


def _features(
    line: HeaderLine | None, launches: tuple[OwnLaunch, ...], source: CudaText
) -> tuple[Feature, ...]:
    """Those it says; else what its arguments and defines show that it can be told."""
    if line is not None:
        said = [] if line.value == "none" else _split(line.value)
        wrong = [one for one in said if one not in TAKEN]
        if wrong:
            known = ", ".join(one for one in FEATURES if one in TAKEN)
            raise InputError(f"{source.file}, line {line.number}: {wrong[0]} is none of {known}, or none.")
        return tuple(one for one in FEATURES if one in said)
    words = {word for one in launches for given in one.arguments for word in re.findall(r"\w+", given.value)}
    words |= set(re.findall(r"\b(?:CAUSAL|WINDOW)\b", source.code))
    found: dict[Feature, bool] = {
        "causal": bool(words & {"causal", "CAUSAL"}),
        "window": {"left", "right"} <= words,
        "gqa": bool(words & {"Hk", "group"}),
    }
    return tuple(feature for feature, told in found.items() if told)


def _capability(line: HeaderLine | None, file: str) -> tuple[int, int]:
    if line is None:
        return (7, 5)
    found = re.fullmatch(r"(\d+)\.(\d)", line.value)
    if found is None:
        raise InputError(f"{file}, line {line.number}: a compute capability is a number like 9.0.")
    return int(found[1]), int(found[2])


def _multiple(line: HeaderLine | None, file: str) -> int:
    if line is None:
        return 1
    if not re.fullmatch(r"[1-9]\d{0,5}", line.value):
        raise InputError(f"{file}, line {line.number}: length_multiple is a whole number from 1.")
    return int(line.value)
