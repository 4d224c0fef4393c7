"""Finds a model's configuration on this machine and builds the model, with its weights or random ones.

Nothing is fetched. A file FILE.py:NAME gives a model of one's own: NAME(batch, seqlen) returns a
torch.nn.Module and the arguments of its step, by name; it runs with the user's rights.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import torch

from flashscope.installation import install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.errors import InputError, UnsupportedError

LAYER_COUNTS = ("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "n_layer", "depth")
MOST_LAYERS = 1000  # of which even a model without weights takes a while
MOST_SAID = 250  # characters of what Transformers says
MADE = "NAME(batch, seqlen) returns a torch.nn.Module and the arguments of its step, a dict by name"
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class ModelSource(NamedTuple):
    """What a model is built from.

    Attributes:
        name: What it is called: the name, or the last part of a path.
        config: Its configuration, as Transformers has it; None: a module of one's own.
        weights: Folder of its weights; None: there are none here.
        make: Of a module of one's own: makes it and the arguments of its step.
    """

    name: str
    config: Any
    weights: Path | None
    make: Callable[[int, int], tuple[Any, dict[str, Any]]] | None = None


def find_source(model: str) -> ModelSource:
    """Where a model is here: a folder, a configuration's file, FILE.py:NAME, or a name in the cache.

    Raises:
        InputError: There is none, or it is no model.
        UnsupportedError: Transformers is not installed.
    """
    path, colon, name = model.rpartition(":")
    if colon and path.endswith(".py"):
        return ModelSource(name, None, None, _own(Path(path), name))
    if model.endswith(".py"):
        raise InputError(f"{model} is Python: name its function, too, as in {model}:NAME; {MADE}")
    _check_installed()
    from transformers.utils import logging  # noqa: PLC0415 - slow, and not for a module of one's own

    logging.disable_progress_bar()  # which nobody sees
    place = Path(model)
    if place.is_dir():
        file = place / "config.json"
        if not file.is_file():
            raise InputError(f"{model} is a folder without a config.json, so no model")
        return ModelSource(place.resolve().name, _read(file), place if _weights_in(place) else None)
    if place.is_file():
        named = place.resolve().parent.name if place.stem == "config" else place.stem
        return ModelSource(named, _read(place), None)
    file = _cached(model)
    return ModelSource(model, _read(file), file.parent if _weights_in(file.parent) else None)


def _check_installed() -> None:
    if not installed("transformers"):
        raise UnsupportedError(f"an audit needs transformers: {install_command('models')}")


def _own(path: Path, name: str) -> Callable[[int, int], tuple[Any, dict[str, Any]]]:
    """The function of that name in a file."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    found = spec_from_file_location("flashscope_audited", path)
    assert found is not None  # noqa: S101 - it ends with .py
    assert found.loader is not None  # noqa: S101 - as above
    module = module_from_spec(found)
    found.loader.exec_module(module)
    make: Any = getattr(module, name, None)
    if not callable(make):
        raise InputError(f"{path} has no function {name!r} that takes batch and seqlen")
    return make  # type: ignore[no-any-return]


def made(source: ModelSource, batch: int, seqlen: int) -> tuple[Any, dict[str, Any]]:
    """A module of one's own and the arguments of its step, by name.

    Raises:
        InputError: Its function returned something else.
    """
    assert source.make is not None  # noqa: S101 - it is one of one's own
    match source.make(batch, seqlen):
        case (torch.nn.Module() as module, dict() as inputs) if all(isinstance(key, str) for key in inputs):
            return module, inputs
        case other:
            raise InputError(f"{source.name} returned {type(other).__name__}, and {MADE}")


def _weights_in(folder: Path) -> bool:
    return any(folder.glob("*.safetensors"))


def _cached(name: str) -> Path:
    """The config.json of a name in the cache of Hugging Face.

    Raises:
        InputError: It is not there.
    """
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - as above
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415 - as above

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        found = None
    if not isinstance(found, str):
        raise InputError(
            f"{name} is no folder or file here, and the local Hugging Face cache has no config.json of that "
            "name; nothing is fetched"
        )
    return Path(found)


def _read(file: Path) -> Any:
    """A configuration.

    Raises:
        InputError: It is none, or of a model that this version of Transformers does not know.
    """
    from transformers import AutoConfig  # noqa: PLC0415 - as above

    try:
        return AutoConfig.from_pretrained(str(file), local_files_only=True, trust_remote_code=False)
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise InputError(
                f"{file} names code of its own, which is not run here: have a function of a file build the "
                f"model, and name it as FILE.py:NAME; {MADE}"
            ) from error
        raise InputError(
            f"{file} is no configuration of a model that Transformers knows: {_said(error)}"
        ) from error


def _said(error: Exception) -> str:
    """What Transformers says, in one line that is not too long."""
    kind = type(error).__name__
    told = f"{kind}: {error}" if isinstance(error, KeyError) else str(error)  # which says the key alone
    return " ".join(told.split())[:MOST_SAID] or kind


def cut_layers(config: Any, layers: int | None) -> tuple[int, int]:
    """Leave so many layers of each part of a configuration; (how many are left, how many there were)."""
    parts = {id(one): one for one in (config, getattr(config, "get_text_config", lambda: config)())}
    counted = before = 0
    for part in parts.values():
        known = {name: getattr(part, name, None) for name in LAYER_COUNTS}
        named = getattr(part, "attribute_map", {})
        counts = {n: c for n, c in known.items() if isinstance(c, int) and n not in named}
        if part is not config and counted:
            counted = before = 0
        for name, count in counts.items():
            if name == "num_hidden_layers" and {"encoder_layers", "decoder_layers"} & set(counts):
                continue  # an alias of the encoder's
            left = count if layers is None else min(count, layers)
            counted, before = counted + left, before + count
            if left < count:
                setattr(part, name, left)
        kinds = getattr(part, "layer_types", None)
        if layers is not None and kinds:
            part.layer_types = kinds[:layers]
    return counted, before


def build_class(config: Any) -> Any:
    """The class of Transformers that the configuration names, else the one that has its task.

    Raises:
        InputError: Transformers has no model for it.
    """
    import transformers  # noqa: PLC0415 - as above

    for name in getattr(config, "architectures", None) or ():
        if (found := getattr(transformers, name, None)) is not None:
            return found
    from transformers.models.auto import modeling_auto as auto  # noqa: PLC0415 - as above

    kind = type(config)
    tries = (
        (auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING,)
        + (() if kind in auto.MODEL_FOR_MASKED_LM_MAPPING else (auto.MODEL_FOR_CAUSAL_LM_MAPPING,))
        + (auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, auto.MODEL_MAPPING)
    )
    for mapping in tries:
        if kind in mapping:
            found = mapping[kind]
            return found[0] if isinstance(found, tuple) else found
    raise InputError(f"Transformers has no model for a configuration of {kind.__name__}")


@contextmanager
def _told_unbuilt(source: ModelSource) -> Iterator[None]:
    """Tell in words that a configuration makes no model."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, OSError, ZeroDivisionError) as error:
        raise InputError(f"{source.name} cannot be built from its configuration: {_said(error)}") from error


def predicted_bytes(source: ModelSource, dtype: str) -> tuple[int, int]:
    """Parameters of a model and the bytes of its weights, before any of them is allocated.

    Raises:
        InputError: The configuration does not make a model, or one of more layers than any has.
    """
    layers, _ = cut_layers(source.config, None)
    if layers > MOST_LAYERS:
        raise InputError(f"{source.name} has {layers:,} layers, and a model has {MOST_LAYERS:,} at most")
    with _told_unbuilt(source), torch.device("meta"):
        model = build_class(source.config)._from_config(source.config, dtype=DTYPES[dtype])  # noqa: SLF001 - what AutoModel.from_config calls
    return count_weights(model)


def count_weights(model: Any) -> tuple[int, int]:
    """Parameters, and bytes of parameters and buffers."""
    parameters, buffers = list(model.parameters()), list(model.buffers())
    nbytes = sum(x.numel() * x.element_size() for x in (*parameters, *buffers))
    return sum(x.numel() for x in parameters), nbytes


def build(source: ModelSource, dtype: str, place: str, *, random: bool) -> Any:
    """The model on its device, in evaluation mode; random weights have a fixed seed.

    Args:
        source: What it is built from.
        dtype: Of its weights.
        place: `cpu` or `cuda`.
        random: Random weights, also where its own are there.

    Raises:
        InputError: The configuration does not make a model.
    """
    torch.manual_seed(0)
    kind = build_class(source.config)
    with _told_unbuilt(source):
        if source.weights is None or random:
            with torch.device(place):
                model = kind._from_config(source.config, dtype=DTYPES[dtype])  # noqa: SLF001 - as above
        else:
            model = kind.from_pretrained(
                str(source.weights), config=source.config, dtype=DTYPES[dtype], local_files_only=True
            )
    return model.to(place).eval()
