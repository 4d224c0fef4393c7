"""Kernels as users bring them: the right ones are right, those that cheat begin as their docstrings say."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.kernels.own_kernels import first_call
from tests.kernels.own_kernels.first_call import load

Array = NDArray[Any]
HERE = Path(__file__).parent
RIGHT = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.torch] if path.stem.startswith("torch_") else [])
    for path in sorted((HERE / "right").glob("*.py"))
]
CHEATS = sorted((HERE / "cheats").glob("*.py"))
GPU_CHEATS = sorted((HERE / "gpu_cheats").glob("*.py"))
TOLERANCE = 3e-5  # of float32 against float64, for values around 1


class Shape(NamedTuple):
    """What is asked of a kernel, but for the values and the mask."""

    batch: int
    heads: int
    kv_heads: int
    rows: int
    keys: int
    head_dim: int
    scale: float


class Asked(NamedTuple):
    """Inputs (float32), mask and scale of one call."""

    q: Array
    k: Array
    v: Array
    causal: bool
    scale: float


SHAPES = (
    Shape(2, 4, 2, 67, 131, 24, 0.2),
    Shape(1, 3, 3, 129, 85, 40, 0.31),  # with a causal mask 44 rows keep no key
    Shape(1, 6, 1, 1, 193, 64, -0.125),
)
LONG = Shape(1, 4, 2, 101, 327, 32, 0.3)
DEVIATIONS = {
    "causal_at_the_top_left": {"output", "lse"},
    "lse_before_mask": {"lse"},
    "nan_in_few_rows": {"output"},
    "patches_numpy": {"output"},
    "puts_inputs_back": {"k"},
    "returns_query_memory": {"q"},
    "right_where_sampled": {"output", "lse"},
    "takes_no_scale": {"output"},
    "writes_behind_inputs": {"behind"},
}
"""What a cheat gets wrong in its very first call; the others get nothing wrong in it."""
BEGUN = {"lse_before_mask", "remembers_by_content"}
"""Of the cheats those that every run begins; a process for each takes its time."""
GPU_DEVIATIONS = {"turns_keys_over": {"k", "v"}, "writes_behind_keys": {"behind"}}
"""The same on a GPU."""


def draw(shape: Shape, causal: bool, seed: int = 0) -> Asked:
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((shape.batch, shape.heads, shape.rows, shape.head_dim), dtype=np.float32)
    k, v = rng.standard_normal((2, shape.batch, shape.kv_heads, shape.keys, shape.head_dim), dtype=np.float32)
    return Asked(q, k, v, causal, shape.scale)


def attention(asked: Asked) -> tuple[Array, Array]:
    """O and LSE in float64, row by row; a row that keeps no key has O = 0 and LSE = -inf."""
    q, k, v = (array.astype(np.float64) for array in asked[:3])
    output, lse = np.zeros(q.shape), np.full(q.shape[:3], -np.inf)
    for batch, head, row in np.ndindex(*q.shape[:3]):
        shared = head * k.shape[1] // q.shape[1]
        seen = max(row + 1 + k.shape[2] - q.shape[2], 0) if asked.causal else k.shape[2]
        if seen:
            scores = k[batch, shared, :seen] @ q[batch, head, row] * asked.scale
            weights = np.exp(scores - scores.max())
            output[batch, head, row] = weights @ v[batch, shared, :seen] / weights.sum()
            lse[batch, head, row] = scores.max() + np.log(weights.sum())
    return output, lse


def close(found: Array, expected: Array) -> bool:
    return np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def call(kernel: Any, asked: Asked, torch: bool) -> list[Any]:
    """The kernel's answers in a list, in its own library's arrays."""
    inputs: tuple[Any, ...] = asked[:3]
    if torch:
        from torch import from_numpy  # noqa: PLC0415 - not installed everywhere

        inputs = tuple(from_numpy(array) for array in inputs)
    answer = kernel(*inputs, causal=asked.causal, scale=asked.scale)
    return list(answer) if isinstance(answer, tuple) else [answer]


def in_a_process(library: str, kernel: Path, asked: Asked, folder: Path) -> dict[str, Array]:
    """What a first call gives and leaves behind; see `first_call`."""
    question, answer = folder / "asked.npz", folder / "given.npz"
    np.savez(question, **asked._asdict())
    command = [sys.executable, first_call.__file__, library, kernel, question, answer]
    ended = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    with np.load(answer) as given:
        return dict(given)


def deviations(given: dict[str, Array], asked: Asked) -> set[str]:
    """Names of what is not as it should be."""
    output, lse = attention(asked)
    judged = {"output": output, "lse": lse}
    kept = {"q": asked.q, "k": asked.k, "v": asked.v, "behind": np.ones_like(given["behind"])}
    wrong = {name for name, expected in judged.items() if name in given and not close(given[name], expected)}
    return wrong | {name for name, expected in kept.items() if not np.array_equal(given[name], expected)}


@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.rows} rows of {shape.keys} keys")
@pytest.mark.parametrize("path", RIGHT)
def test_a_right_kernel_is_right_and_stays_so_while_it_is_called_again(
    path: Path, shape: Shape, causal: bool
) -> None:
    kernel, torch = load(path), path.stem.startswith("torch_")
    questions = [draw(shape, causal, seed) for seed in range(3)]
    answers = [call(kernel, asked, torch) for asked in questions]
    for asked, found, seed in zip(questions, answers, range(3), strict=True):
        for one, expected in zip(found, attention(asked), strict=False):
            assert str(one.dtype).endswith("float32")
            assert one.shape == expected.shape
            assert close(np.asarray(one), expected)
        assert all(map(np.array_equal, asked[:3], draw(shape, causal, seed)[:3])), "inputs were written"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in BEGUN else pytest.mark.matrix)
        for path in CHEATS
    ],
)
def test_a_cheat_begins_as_its_docstring_says(path: Path, tmp_path: Path) -> None:
    asked = draw(LONG, causal=True)
    found = deviations(in_a_process("numpy", path, asked, tmp_path), asked)
    assert found == DEVIATIONS.get(path.stem, set())


def test_every_cheat_that_begins_wrong_is_there() -> None:
    assert set(DEVIATIONS) <= {path.stem for path in CHEATS}


def test_rows_that_are_likely_to_be_sampled_are_right_and_few_others(tmp_path: Path) -> None:
    asked = draw(LONG, causal=True)
    given = in_a_process("numpy", HERE / "cheats" / "right_where_sampled.py", asked, tmp_path)
    expected = attention(asked)[0]
    right = {row for row in range(LONG.rows) if close(given["output"][:, :, row], expected[:, :, row])}
    assert right == {*range(8), *range(LONG.rows - 8, LONG.rows), 32, 64}


def test_nan_stands_in_one_row_alone(tmp_path: Path) -> None:
    asked = draw(LONG, causal=True)
    output = in_a_process("numpy", HERE / "cheats" / "nan_in_few_rows.py", asked, tmp_path)["output"]
    expected = attention(asked)[0]
    spoilt = np.isnan(output)
    assert spoilt.any(axis=-1).sum() == 1
    assert close(output[~spoilt], expected[~spoilt])


def test_what_blinds_the_judge_is_no_attention_at_all(tmp_path: Path) -> None:
    asked = draw(LONG, causal=True)
    output = in_a_process("numpy", HERE / "cheats" / "patches_numpy.py", asked, tmp_path)["output"]
    mean = asked.v.mean(axis=2, keepdims=True).repeat(LONG.heads // LONG.kv_heads, axis=1)
    assert close(output, np.broadcast_to(mean, output.shape))


@pytest.mark.gpu
@pytest.mark.parametrize("path", GPU_CHEATS, ids=lambda path: path.stem)
def test_a_cheat_on_a_gpu_begins_as_its_docstring_says(path: Path, tmp_path: Path) -> None:
    asked = draw(LONG, causal=True)
    found = deviations(in_a_process("cupy", path, asked, tmp_path), asked)
    assert found == GPU_DEVIATIONS.get(path.stem, set())


@pytest.mark.parametrize("path", GPU_CHEATS, ids=lambda path: path.stem)
def test_a_cheat_on_a_gpu_is_python_with_a_docstring(path: Path) -> None:
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert "f" in code.co_names
    assert isinstance(code.co_consts[0], str)
