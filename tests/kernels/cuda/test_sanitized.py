"""What a sanitizer is given to watch leaves out no kernel, pass or mask."""

from flashscope.kernels.catalogue.flash2_cut import SHORT_TILE, hopper_tile
from flashscope.kernels.catalogue.ladder import FLASH2, LADDER
from flashscope.kernels.workload.device import Device
from tests.kernels.cuda.sanitized import problems

HOPPER = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))


def test_every_kernel_runs_every_pass_and_every_mask_that_it_takes() -> None:
    for spec in (one for one in LADDER if "cuda" in one.dtypes):
        taken = [problem for problem in problems(spec) if spec.unsupported(problem, HOPPER) is None]
        assert spec.features["cuda"] <= {one for problem in taken for one in problem.features}, spec.name
        if spec.backward is not None and "cuda" in spec.backward.dtypes:
            modes = {problem.deterministic for problem in taken if problem.runs_backward}
            assert modes == {False, True}, spec.name


def test_flash2_runs_in_tiles_of_half_the_rows_too() -> None:
    assert SHORT_TILE.rows in {hopper_tile(problem).rows for problem in problems(FLASH2)}
