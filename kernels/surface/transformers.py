"""Our kernels inside models of Hugging Face Transformers: what it is told of them."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from flashscope.installation import install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.errors import UnsupportedError


def register_transformers(kernel: str = "auto") -> str:
    """Enter a kernel among the attention implementations of Hugging Face Transformers.

        model = AutoModelForCausalLM.from_config(config, attn_implementation=register_transformers("flash2"))

    Layers then run it forward and, where a model trains, backward: float32 on the CPU, on a GPU float16 and
    bfloat16, and forward also float32. What a layer asks for and the kernel does not do is refused by an
    UnsupportedError when the model runs.

    Args:
        kernel: Name of a kernel of the ladder, or "auto": the fastest that takes a layer's problem, with its
            gradients where a model trains.

    Returns:
        The name to give as `attn_implementation`, or to the model's `set_attn_implementation`.

    Raises:
        InputError: There is no such kernel.
        UnsupportedError: Transformers or PyTorch is not installed, or does not start.
    """
    missing = [module for module in ("transformers", "torch") if not installed(module)]
    if missing:
        raise UnsupportedError(f"{' and '.join(missing)} must be installed: {install_command('models')}")
    try:
        library = import_module("flashscope.kernels.library.models.transformers_attention")
    except ImportError as error:
        raise UnsupportedError(f"Transformers does not start: {error}{_taken_for_another()}") from error
    return library.register(kernel)  # type: ignore[no-any-return]


def _taken_for_another() -> str:
    """What to do where Python takes our folder for Hugging Face's package `kernels`; else empty."""
    found, ours = find_spec("kernels"), Path(__file__).parent.parent / "__init__.py"
    if found is None or found.origin is None or not Path(found.origin).samefile(ours):
        return ""
    return (
        f" Python takes {Path(found.origin).parent} for Hugging Face's package kernels: "
        "run from another folder, or take this one off PYTHONPATH."
    )
