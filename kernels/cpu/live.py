"""flash1 and flash2 once more, built from the same source with a word after every tile.

As with clocks (`stages`), the module is executed a second time, and only the name through which its loops
take a tile into O is bound to one that says so afterwards: it computes the same to the bit, in that order.
"""

from collections.abc import Callable
from typing import Any

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch
from flashscope.kernels.cpu.stages import again, check_clocked
from flashscope.kernels.workload.live import Tile
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

NAMES = {"flash1": ("_head", "absorb_normalised"), "flash2": ("_query_block", "absorb")}
"""What computes a head, or a block of its query rows, and what takes a tile into O, by kernels."""


class TellingLaunch:
    """A kernel that tells of every tile, bound to its arrays; it allocates outputs and workspace of its own.

    Args:
        spec: The kernel, flash1 or flash2.
        problem: What is computed.
        inputs: Q, K and V, float32.
        told: Called after each tile with its head, i and j, by the thread that computes; may wait, or raise
            to end the launch.

    Attributes:
        launch: Runs it, and has what it computed.
        block_q: Rows of a tile, Br.
        block_k: Columns of a tile, Bc.

    Raises:
        UnsupportedError: The kernel has no such build, or the problem has lengths or pages.
    """

    def __init__(
        self, spec: KernelSpec, problem: Problem, inputs: Inputs, told: Callable[[Tile], None]
    ) -> None:
        check_clocked(spec, problem)
        module = again(spec.implementation["cpu"])
        names, (part, absorb) = vars(module), NAMES[spec.name]
        self._told, self._head = told, 0
        names[part], names[absorb] = self._in_head(names[part]), self._then_told(names[absorb])
        self.launch: CpuLaunch = module.prepare(spec, problem, inputs)
        self.block_q, self.block_k = self.launch.workspace["S tile"].shape

    def _in_head(self, function: Callable[..., None]) -> Callable[..., None]:
        def noted(launch: CpuLaunch, head: tuple[int, ...], *rows: slice) -> None:
            self._head = head[0] * launch.problem.heads + head[1]
            function(launch, head, *rows)

        return noted

    def _then_told(self, function: Callable[..., None]) -> Callable[..., None]:
        def telling(state: Any, tile: Any, v: Any, mask: Any, area: tuple[slice, slice]) -> None:
            function(state, tile, v, mask, area)
            rows, columns = area
            self._told((self._head, rows.start // self.block_q, columns.start // self.block_k))

        return telling
