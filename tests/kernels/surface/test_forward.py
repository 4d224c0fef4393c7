"""`flashscope.kernels.attention`: right answers, and one clear sentence for every wrong question."""

import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels import KERNELS, BlockMask, Problem, attention, choose_kernel
from flashscope.kernels.catalogue.ladder import LADDER, STEPS
from flashscope.kernels.catalogue.registry import LESSON, RANKED
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from tests.kernels.cases import draw
from tests.kernels.masked import masked_problems
from tests.kernels.running import CPU_KERNELS, each_kernel


def array(*shape: int, dtype: Any = np.float32) -> Any:
    return np.ones(shape, dtype)


GOOD = array(2, 3, 5, 16)


@each_kernel
@pytest.mark.parametrize("causal", [False, True])
def test_attention_answers_in_the_kind_and_dtype_it_was_asked(spec: KernelSpec, causal: bool) -> None:
    problem = Problem(seqlen_q=70, seqlen_k=90, batch=2, heads=3, head_dim=32, causal=causal, scale=0.3)
    inputs = draw(problem)
    output, lse = attention(*inputs.qkv, kernel=spec.name, causal=causal, scale=0.3, return_lse=True)
    assert type(output) is type(lse) is np.ndarray
    assert output.dtype == lse.dtype == np.float32
    assert verify(problem, inputs, output, lse).passed


def test_lse_is_returned_only_when_asked_for() -> None:
    assert attention(GOOD, GOOD, GOOD, kernel="flash2").shape == GOOD.shape


def test_the_default_scale_is_one_over_the_root_of_the_head_dim() -> None:
    q, k, v = draw(Problem(seqlen_q=4, seqlen_k=6, head_dim=16)).qkv
    np.testing.assert_array_equal(
        attention(q, k, v, kernel="standard"), attention(q, k, v, kernel="standard", scale=0.25)
    )


def test_every_registered_kernel_has_a_name_of_its_own_and_ours_stand_before_the_libraries() -> None:
    names, peers = [spec.name for spec in KERNELS], [spec.family == "library" for spec in KERNELS]
    assert len(set(names)) == len(names)
    assert peers == sorted(peers)
    assert [spec.family == "library" for spec in LADDER] == peers[: len(LADDER)]
    assert {*LESSON, *(spec.name for spec in STEPS)} <= set(names)


@settings(max_examples=30, deadline=None)
@given(masked_problems())
def test_attention_takes_masks_and_grouped_heads(problem: Problem) -> None:
    inputs = draw(problem)
    for kernel in ("auto", *(spec.name for spec in CPU_KERNELS)):
        output, lse = attention(
            *inputs.qkv,
            kernel=kernel,
            causal=problem.causal,
            window=problem.window,
            block_mask=problem.block_mask,
            return_lse=True,
        )
        assert verify(problem, inputs, output, lse).passed


def test_auto_is_the_kernel_that_choose_kernel_names() -> None:
    problem = Problem(seqlen_q=40, seqlen_k=40, head_dim=16, causal=True)
    chosen = choose_kernel(problem, describe())
    assert chosen.name == "flash2"
    inputs = draw(problem)
    by_name = attention(*inputs.qkv, kernel=chosen.name, causal=True)
    np.testing.assert_array_equal(attention(*inputs.qkv, kernel="auto", causal=True), by_name)


def test_auto_tries_the_newest_kernels_first_and_none_that_rounds_its_inputs() -> None:
    assert [spec.name for spec in RANKED] == ["flash3", "flash2", "flash1", "standard", "simt", "fused"]
    assert not [spec.name for spec in RANKED if spec.rounding is not None or spec not in LADDER]


@pytest.mark.parametrize(("capability", "named"), [((8, 9), "flash2"), ((9, 0), "flash3")])
def test_auto_is_flash3_on_hopper_and_flash2_on_other_gpus(capability: tuple[int, int], named: str) -> None:
    device = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=capability)
    problem = Problem(seqlen_q=40, seqlen_k=40, head_dim=128, dtype="bfloat16")
    assert choose_kernel(problem, device).name == named


def test_auto_passes_over_kernels_that_cannot_and_says_why_when_none_can() -> None:
    with pytest.raises(UnsupportedError, match=r"No kernel can run this: .*flash2 takes head dims .* not 20"):
        attention(array(2, 3, 5, 20), array(2, 3, 5, 20), array(2, 3, 5, 20), kernel="auto")


Jax = type("Array", (), {"__module__": "jax"})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"q": array(3, 5, 16)},
            r"q must have 4 axes \(batch, heads, seqlen, head_dim\), not shape \(3, 5, 16\)",
        ),
        ({"v": array(1, 2, 3, 5, 16)}, "v must have 4 axes"),
        ({"k": array(1, 3, 5, 16)}, "the same batch .* not 2, 1 and 2"),
        ({"k": array(2, 1, 5, 16)}, "the same heads .* a divisor of the 3 heads of q, not 1 and 3"),
        (
            {"k": array(2, 2, 5, 16), "v": array(2, 2, 5, 16)},
            "a divisor of the 3 heads of q, not 2 and 2",
        ),
        (
            {"k": array(2, 6, 5, 16), "v": array(2, 6, 5, 16)},
            "a divisor of the 3 heads of q, not 6 and 6",
        ),
        ({"window": (4,)}, r"window must be two whole numbers \(left, right\) or None, not \(4,\)"),
        ({"window": 4}, "window must be two whole numbers .* not 4"),
        ({"window": (0.5, 1)}, "window must be two whole numbers .* not .0.5, 1."),
        ({"window": (3, -2)}, "at least 0, or -1 for unbounded, not 3 and -2"),
        ({"block_mask": np.ones((1, 1), bool)}, "block_mask must be a BlockMask or None, not ndarray"),
        (
            {"block_mask": BlockMask.of(np.ones((2, 1), bool), 4, 4)},
            "5 queries and 5 keys in blocks of 4 x 4 need a block mask of 2 x 2 blocks, not 2 x 1",
        ),
        ({"k": array(2, 3, 5, 24)}, "q and k must have the same head_dim .* not 16 and 24"),
        ({"v": array(2, 3, 6, 16)}, "k and v must have the same seqlen .* not 5 and 6"),
        ({"q": array(2, 3, 0, 16)}, "q is empty"),
        (
            {"q": array(2, 3, 5, 16, dtype=np.float64)},
            "q must be float32, float16, bfloat16 in native byte order, not <f8 .float64",
        ),
        ({"q": array(2, 3, 5, 16, dtype=np.int32)}, "q must be float32, .* not <i4 .int32"),
        ({"k": array(2, 3, 5, 16, dtype=">f4")}, "native byte order, not >f4"),
        ({"k": array(2, 3, 5, 16, dtype=np.float16)}, "share one dtype, not float32 and float16"),
        (
            {"q": [[[[1.0]]]]},
            r"q must be a NumPy array \(CPU\), a CuPy array \(GPU\) or a PyTorch tensor, not list; .* cupy.",
        ),
        ({"k": Jax()}, "k must be a NumPy array .* or a PyTorch tensor, not jax.Array; .* cupy.from_dlpack"),
        ({"v": None}, "v must be a NumPy array .* not NoneType"),
        ({"q": np.ma.masked_array(GOOD)}, "q must be a NumPy array .* not numpy.ma"),
        ({"kernel": "flash9"}, "kernel must be one of auto, standard, .*flash2, .* not 'flash9'"),
        ({"kernel": None}, "kernel must be a name, a KernelSpec, a path or a function, not None"),
        ({"scale": float("nan")}, "scale must be a finite number in float32, not nan"),
        ({"scale": float("-inf")}, "scale must be a finite number in float32, not -inf"),
        ({"scale": "large"}, "scale must be a finite number or None, not 'large'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_question_is_answered_with_what_is_accepted(changed: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"q": GOOD, "k": GOOD, "v": GOOD, "kernel": "flash2"} | changed
    with pytest.raises(InputError, match=says) as caught:
        attention(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (array(2, 3, 5, 16, dtype=np.float16), "flash2 takes float32 on cpu, not float16"),
        (array(2, 3, 5, 20), "flash2 takes head dims 16 to 256 in steps of 8 on cpu, not 20"),
        (array(2, 3, 5, 264), "flash2 takes head dims 16 to 256 in steps of 8 on cpu, not 264"),
    ],
    ids=["float16", "20", "264"],
)
def test_what_the_kernel_cannot_run_is_refused_with_the_reason(given: Any, says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        attention(given, given, given, kernel="flash2")


@dataclass
class OnGpu:
    """As much of a CuPy array as the checks look at before CuPy itself is needed."""

    device: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(id=0))


OnGpu.__name__, OnGpu.__module__ = "ndarray", "cupy"


def test_a_mixture_of_cpu_and_gpu_arrays_is_refused() -> None:
    with pytest.raises(InputError, match="all be NumPy arrays, all be CuPy arrays or all be PyTorch tensors"):
        attention(GOOD, OnGpu(), GOOD, kernel="flash2")


def test_arrays_on_two_gpus_are_refused() -> None:
    arrays: dict[str, Any] = {"q": OnGpu(), "k": OnGpu(SimpleNamespace(id=1)), "v": OnGpu()}
    with pytest.raises(InputError, match="on the same GPU, not q on 0, k on 1, v on 0"):
        attention(**arrays, kernel="flash2")


def imported_after(code: str) -> set[str]:
    """Top-level modules a fresh interpreter holds after running the code."""
    program = f"{code}\nimport sys\nprint(*(name for name in sys.modules if '.' not in name))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


def test_importing_kernels_imports_no_array_library() -> None:
    code = (
        "from flashscope.kernels import attention, KERNELS, Problem;"
        "import flashscope.kernels.launching.launch, flashscope.kernels.workload.trace"
    )
    assert not {"numpy", "cupy", "torch", "ml_dtypes"} & imported_after(code)


def test_attention_on_numpy_arrays_imports_no_gpu_library() -> None:
    code = (
        "import numpy; from flashscope.kernels import attention; a = numpy.ones((1, 1, 4, 16), 'f'); "
        "attention(a, a, a, kernel='flash2')"
    )
    assert not {"cupy", "torch"} & imported_after(code)
