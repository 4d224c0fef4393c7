"""What a footprint is made of: the parts are all of what was predicted, or there are none."""

from dataclasses import replace

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.theory.holdings import TENSORS, holdings

PROBLEM = Problem(seqlen_q=1000, seqlen_k=1000, heads=2, dtype="bfloat16")
OURS = [spec for spec in KERNELS if spec.family != "library"]


RAGGED = structs.replace(PROBLEM, key_lengths=(7,))


def row(kernel: str, problem: Problem = PROBLEM, backend: Backend = "cuda") -> PointRow:
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=problem),
        backend=backend,
        status="done",
        reason="",
        predicted_bytes=find_kernel(kernel).predicted_bytes(problem, backend),
        sampling_ns=None,
        measurement=None,
    )


@pytest.mark.parametrize("spec", OURS, ids=lambda spec: spec.name)
def test_the_parts_are_all_that_is_predicted_the_tensors_first_then_the_largest(spec: KernelSpec) -> None:
    for backend in spec.implementation:
        one = row(spec.name, backend=backend)
        tensors, *buffers = holdings(one)
        assert tensors.name == TENSORS
        assert tensors.nbytes + sum(part.nbytes for part in buffers) == one.predicted_bytes
        sizes = [part.nbytes for part in buffers]
        assert sizes == sorted(sizes, reverse=True)


def test_standard_holds_two_matrices_of_scores_and_flash2_nothing_besides() -> None:
    assert [part.name for part in holdings(row("standard"))] == [TENSORS, "S", "P"]
    assert [part.name for part in holdings(row("flash2"))] == [TENSORS]


def test_the_tensors_of_a_paged_cache_have_its_table_among_them() -> None:
    paged = Problem(seqlen_q=64, seqlen_k=64, page_size=16)
    assert holdings(row("flash2", paged, "cpu"))[0].name == "Q K V O LSE, page table"


@pytest.mark.parametrize("spec", OURS, ids=lambda spec: spec.name)
def test_buffers_are_named_in_words_and_not_as_a_tensor_is(spec: KernelSpec) -> None:
    for problem in (PROBLEM, RAGGED):
        names = [part.name for part in holdings(row(spec.name, problem))[1:]]
        assert len(set(names)) == len(names)
        assert not {*names} & {*TENSORS.split()}
        assert not [name for name in names if "_" in name]


@pytest.mark.parametrize(
    "unknown",
    [
        row("standard", Problem(seqlen_q=64, seqlen_k=64, passes="both")),
        row("fused", Problem(seqlen_q=64, seqlen_k=64, passes="both")),
        replace(row("standard"), status="unsupported"),
        row("torch-auto"),
        replace(row("standard"), predicted_bytes=7),
    ],
    ids=["gradients", "no gradients", "not taken", "a library", "another version"],
)
def test_there_are_no_parts_where_they_are_not_what_was_predicted(unknown: PointRow) -> None:
    assert holdings(unknown) == ()
