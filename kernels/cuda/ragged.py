"""Lengths of sequences and pages as the kernels take them: defines, arguments and tables of ragged.cuh."""

from typing import Any

import numpy as np

from flashscope.kernels.catalogue.workspace import KEY_LENGTHS, QUERY_LENGTHS
from flashscope.kernels.cuda.program import Struct
from flashscope.kernels.workload.problem import Problem

PAGE_TABLE = "page_table"  # of the inputs


def layout_defines(problem: Problem) -> dict[str, int]:
    """Whether sequences differ in length, and the keys of a page; 0: K and V lie as arrays."""
    return {"RAGGED": int("ragged" in problem.features), "PAGE_SIZE": problem.page_size or 0}


def layout_arguments(problem: Problem, heads: int) -> tuple[Any, ...]:
    """Heads of a sequence; a struct of what differs: lengths, the page table; K/V heads of a sequence."""
    return np.int32(heads), Struct(layout_tables(problem)), np.int32(problem.key_heads)


def layout_tables(problem: Problem) -> tuple[str, ...]:
    """The lengths of sequences and the page table by name, where there are any."""
    lengths = (QUERY_LENGTHS, KEY_LENGTHS) if "ragged" in problem.features else ()
    return (*lengths, *(() if problem.page_size is None else (PAGE_TABLE,)))


def length_tables(problem: Problem) -> dict[str, Any]:
    """Query rows and keys of each sequence, where they differ."""
    if "ragged" not in problem.features:
        return {}
    return {
        QUERY_LENGTHS: np.array(problem.row_counts, np.int32),
        KEY_LENGTHS: np.array(problem.key_counts, np.int32),
    }
