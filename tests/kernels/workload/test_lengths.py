"""Sequences of different lengths and a K/V cache in pages: exact counts, and a sentence for what is wrong."""

import dataclasses
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels import BlockMask, Problem, attention
from flashscope.kernels.catalogue.peers import TORCH
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.layout import page_table
from flashscope.kernels.workload.trace import TraceRequest

RAGGED = Problem(
    seqlen_q=5, seqlen_k=64, batch=3, heads=2, head_dim=16, query_lengths=(5, 0, 2), key_lengths=(33, 64, 0)
)
PAGED = msgspec.structs.replace(RAGGED, key_lengths=(33, 64, 1), page_size=32)


def test_a_problem_of_full_lengths_is_an_even_one() -> None:
    full = msgspec.structs.replace(RAGGED, query_lengths=(5, 5, 5), key_lengths=(64, 64, 64))
    assert full.even
    assert "ragged" not in full.features
    assert RAGGED.features == {"ragged"}
    assert PAGED.features == {"ragged", "paged"}


def test_each_sequence_is_a_plain_problem_of_its_own_lengths() -> None:
    assert list(RAGGED.sequences) == [0]
    plain = Problem(seqlen_q=5, seqlen_k=33, heads=2, head_dim=16)
    assert RAGGED.sequences[0] == plain
    assert {b: (one.seqlen_q, one.seqlen_k) for b, one in PAGED.sequences.items()} == {0: (5, 33), 2: (2, 1)}


@pytest.mark.parametrize("masks", [{}, {"causal": True}, {"causal": True, "window": (7, 0)}])
def test_pairs_and_operations_are_sums_over_the_sequences(masks: dict[str, Any]) -> None:
    problem = msgspec.structs.replace(PAGED, **masks)
    alone = [Problem(seqlen_q=q, seqlen_k=k, heads=2, head_dim=16, **masks) for q, k in ((5, 33), (2, 1))]
    assert problem.all_kept_pairs == sum(one.all_kept_pairs for one in alone)
    assert problem.flops == sum(one.flops for one in alone)
    assert problem.kept_share == problem.all_kept_pairs / (2 * (5 * 33 + 2 * 1))


def test_a_batch_without_any_pair_has_nothing_to_compute() -> None:
    problem = msgspec.structs.replace(RAGGED, key_lengths=(0, 0, 0))
    assert not problem.sequences
    assert problem.flops == problem.kept_share == 0


def test_the_inputs_of_a_paged_problem_are_the_whole_pool_and_the_table() -> None:
    assert PAGED.pages == 2 + 2 + 1 + 3  # in use, and a spare one a sequence
    assert PAGED.pool_shape == (8, 2, 32, 16)
    assert PAGED.input_bytes == 4 * (3 * 2 * 5 * 16 + 2 * 8 * 2 * 32 * 16) + 4 * 3 * 2
    assert RAGGED.input_bytes == 4 * (3 * 2 * 5 * 16 + 2 * 3 * 2 * 64 * 16)


MASK = BlockMask.random(5, 64, block_q=8, block_k=8, kept_share=0.5)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"query_lengths": (5, 1)}, "query_lengths must have one length for each of the 3 sequences, not 2"),
        ({"query_lengths": (5, 6, 1)}, "query_lengths must be from 0 to 5, not 6 as of sequence 1"),
        ({"key_lengths": (5, 6, -1)}, "key_lengths must be from 0 to 64, not -1 as of sequence 2"),
        ({"page_size": 48}, "page_size must be one of 16, 32, 64, 128, 256, not 48"),
        ({"page_size": 128}, "seqlen_k must be a multiple of the page size of 128, not 64; key_lengths say"),
        ({"block_mask": MASK}, "A block mask is for sequences of one length without pages: leave it out"),
    ],
)
def test_lengths_and_pages_that_fit_nothing_are_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        msgspec.structs.replace(RAGGED, **changed)


GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))
HALF = {"dtype": "float16", "head_dim": 64}


@pytest.mark.parametrize("spec", TORCH, ids=lambda spec: spec.name)
def test_a_library_that_cannot_take_them_says_so(spec: KernelSpec) -> None:
    ours = dataclasses.replace(spec, extra=None)  # whether it is installed or not
    reason = ours.unsupported(msgspec.structs.replace(PAGED, **HALF), GPU)
    name = spec.name
    assert reason == f"{name} does not take ragged lengths and a paged K/V cache on cuda"


@pytest.mark.parametrize("name", ["standard", "flash1", "flash2"])
def test_no_gradients_are_computed_of_them(name: str) -> None:
    reason = find_kernel(name).unsupported_backward(RAGGED, describe())
    assert reason == f"{name}'s backward pass does not take ragged lengths on cpu"


def test_a_trace_looks_at_one_sequence_of_them_through_its_pages() -> None:
    even = Problem(
        seqlen_q=8, seqlen_k=32, head_dim=16, batch=2, heads=2, query_lengths=(8, 5), key_lengths=(32, 20)
    )
    problem = msgspec.structs.replace(even, page_size=16)
    trace = record(TraceRequest(problem=problem, order="flash2", block_q=4, block_k=8, head=3))
    lying = make_inputs(even, "cpu")
    for name, length in (("q", 5), ("k", 20), ("v", 20)):
        assert (getattr(trace, name).numpy() == getattr(lying, name)[1, 1, :length]).all()
    assert trace.pages is not None
    assert trace.pages.numpy().tolist() == page_table(problem)[1, :2].tolist()
    np.testing.assert_allclose(trace.output.numpy(), trace.exact_output.numpy(), atol=1e-5)


def array(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def table(*rows: tuple[int, ...], dtype: Any = np.int32) -> Any:
    return np.array(rows, dtype)


POOL = array(4, 2, 16, 16)
IN_PAGES = {"k": POOL, "v": POOL, "page_table": table((0, 3), (1, 2))}


NOT_CONTIGUOUS = r"^page_table must be contiguous \(row-major\); numpy.ascontiguousarray makes it so\.$"
NOT_NATIVE = r'^page_table must be int32 in native byte order, not >i4; page_table.astype\("int32"\) makes it'


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"key_lengths": (7, 8)}, "key_lengths must be from 0 to 6, not 7 as of sequence 0"),
        (IN_PAGES | {"key_lengths": (7, 33)}, "key_lengths must be from 0 to 32, not 33 as of sequence 1"),
        (IN_PAGES | {"page_table": [[0]]}, "page_table must be a NumPy array .* not list"),
        (
            IN_PAGES | {"page_table": table((0, 1))},
            r"int32 of shape \(batch, .* a batch of 2, not int32 \(1, 2\)",
        ),
        (IN_PAGES | {"page_table": table((), ())}, r"a batch of 2, not int32 \(2, 0\)"),
        (
            IN_PAGES | {"page_table": table((0,), (1,), dtype=np.int64)},
            r"must be contiguous int32 .* not int64",
        ),
        (IN_PAGES | {"page_table": table((0, 1), (2, 3))[:, ::-1]}, NOT_CONTIGUOUS),
        (IN_PAGES | {"page_table": np.asfortranarray(table((0, 1), (2, 3)))}, NOT_CONTIGUOUS),
        (IN_PAGES | {"page_table": table((0, 1), (2, 3), dtype=">i4")}, NOT_NATIVE),
        (
            IN_PAGES | {"page_table": table((0, 1), (2, 4))},
            "page_table must name pages from 0 to 3, not 4 as for keys 16 to 31 of sequence 1",
        ),
        (
            IN_PAGES | {"page_table": table((-1, 1), (2, 3)), "key_lengths": (1, 0)},
            "pages from 0 to 3, not -1 as for keys 0 to 15 of sequence 0",
        ),
        (
            IN_PAGES | {"k": array(4, 2, 8, 16), "v": array(4, 2, 8, 16)},
            "page_size must be one of 16, .* not 8",
        ),
        (IN_PAGES | {"v": array(5, 2, 16, 16)}, r"k and v must be pages of one shape \(pages, kv_heads"),
        (IN_PAGES | {"k": array(4, 2, 16, 24), "v": array(4, 2, 16, 24)}, "the same head_dim"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_question_is_answered_with_what_is_accepted(changed: dict[str, Any], says: str) -> None:
    arguments = {"q": array(2, 2, 5, 16), "k": array(2, 2, 6, 16), "v": array(2, 2, 6, 16)} | changed
    with pytest.raises(InputError, match=says) as caught:
        attention(**arguments, kernel="standard")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lengths", "told"),
    [
        ((5, 2.5), "(5, 2.5)"),
        (7, "7"),
        ({3, 4}, "{3, 4}"),
        ({3: 1, 4: 1}, "{3: 1, 4: 1}"),
        (b"ab", "b'ab'"),
        ("12", "'12'"),
        ([True, False], "[True, False]"),
        ([None, 1], "[None, 1]"),
        ([2.0] * 1000, "[2.0, 2.0, 2.0, 2.0, 2.0, 2.0, ...]"),
        (np.array([True, False]), "bool of shape (2,)"),
        (np.array([3.0, 4.0]), "float64 of shape (2,)"),
        (np.array([[3], [4]]), "int64 of shape (2, 1)"),
        (np.array(3), "int64 of shape ()"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lengths_are_a_sequence_of_whole_numbers_or_an_array_of_them_and_nothing_else(
    lengths: Any, told: str
) -> None:
    q, k = array(2, 2, 5, 16), array(2, 2, 6, 16)
    with pytest.raises(InputError) as caught:
        attention(q, k, k, kernel="standard", key_lengths=lengths)
    assert str(caught.value) == (
        "key_lengths must be a list, a tuple or a 1-d integer array of whole numbers, one for each sequence, "
        f"not {told}."
    )


@pytest.mark.parametrize(
    "lengths", [[3, 4], range(3, 5), [np.int32(3), np.uint8(4)], np.array([3, 4], ">i4")], ids=str
)
def test_lengths_may_be_any_sequence_or_array_of_whole_numbers(lengths: Any) -> None:
    q, k = array(2, 2, 5, 16), array(2, 2, 6, 16)
    expected = attention(q, k, k, kernel="standard", key_lengths=(3, 4))
    assert np.array_equal(attention(q, k, k, kernel="standard", key_lengths=lengths), expected)


def test_a_batch_of_a_billion_sequences_in_pages_is_counted_without_listing_them() -> None:
    huge = Problem(seqlen_q=1, seqlen_k=64, batch=10**9, page_size=16)
    assert huge.pages == 5 * 10**9
    assert huge.flops == 10**9 * Problem(seqlen_q=1, seqlen_k=64).flops
    assert huge.kept_share == 1
