"""What the driver is asked for where a launch may begin while the one before it ends, without a GPU."""

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flashscope.kernels.cuda import driver as library_module
from flashscope.kernels.cuda import pdl
from flashscope.kernels.cuda.pdl import PROGRAMMATIC_STREAM_SERIALIZATION, Attribute, Config, PdlLaunch
from flashscope.kernels.cuda.program import KernelLaunch
from flashscope.kernels.workload.errors import KernelError


def test_the_driver_finds_the_launch_where_its_header_says() -> None:
    """Written by NVIDIA's own binding, read through ours."""
    from cuda.bindings import driver  # noqa: PLC0415 - a test dependency

    given = driver.CUlaunchConfig()
    given.gridDimX, given.gridDimY, given.gridDimZ = 7, 6, 5
    given.blockDimX, given.blockDimY, given.blockDimZ = 4, 3, 2
    given.sharedMemBytes, given.hStream = 1234, driver.CUstream(2**40 + 1)
    attribute, name = driver.CUlaunchAttribute(), driver.CUlaunchAttributeID
    attribute.id = name.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    given.attrs, given.numAttrs = [attribute], 1
    found = Config.from_address(int(given.getPtr()))
    assert ([*found.grid], [*found.block]) == ([7, 6, 5], [4, 3, 2])
    assert (found.shared_bytes, found.stream, found.attribute_count) == (1234, 2**40 + 1, 1)
    assert found.attributes[0].name == PROGRAMMATIC_STREAM_SERIALIZATION
    assert found.attributes[0].value == 1
    assert (ctypes.sizeof(Config), ctypes.sizeof(Attribute)) == (56, 72)
    assert (Config.stream.offset, Config.attributes.offset, Attribute.value.offset) == (32, 40, 8)


class Driver:
    """Stands in for the driver's library: keeps what it is asked for."""

    def __init__(self, *, status: int = 0) -> None:
        self.status = status
        self.seen: list[dict[str, Any]] = []

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: Any, extra: Any) -> int:
        config = config._obj
        attributes = [(one.name, one.value) for one in config.attributes[: config.attribute_count]]
        sizes = (8, 4, 4, 128)
        self.seen.append(
            {
                "dimensions": (*config.grid, *config.block, config.shared_bytes),
                "stream": config.stream,
                "attributes": attributes,
                "function": function.value,
                "parameters": [ctypes.string_at(at, n) for at, n in zip(parameters, sizes, strict=True)],
                "extra": extra,
            }
        )
        return self.status

    def cuGetErrorString(self, status: Any, text: Any) -> int:
        text._obj.value = b"invalid argument"
        return int(status.value != self.status)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    for module in (pdl, library_module):
        monkeypatch.setattr(module, "driver", lambda: made)
    streams = iter((0x1000, 0x2000))
    cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=next(streams)))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    return made


def bound() -> PdlLaunch:
    tensor_map = np.arange(128, dtype=np.uint8).view("V128")[0]
    array = SimpleNamespace(data=SimpleNamespace(ptr=0x7F0012345600))
    stage = KernelLaunch("one", 66, (), threads=384, shared_bytes=200_000, pdl=True)
    return PdlLaunch(stage, 0xABC0, (array, np.int32(-5), np.float32(0.5), tensor_map))


def test_the_driver_gets_each_parameter_and_the_current_stream(library: Driver) -> None:
    enqueue = bound()
    enqueue()
    enqueue()
    first, second = library.seen
    assert first["dimensions"] == (66, 1, 1, 384, 1, 1, 200_000)
    assert first["attributes"] == [(PROGRAMMATIC_STREAM_SERIALIZATION, 1)]
    assert (first["function"], first["extra"]) == (0xABC0, None)
    address, five, half, tensor_map = first["parameters"]
    assert address == (0x7F0012345600).to_bytes(8, "little")
    assert (five, half) == (np.int32(-5).tobytes(), np.float32(0.5).tobytes())
    assert tensor_map == bytes(range(128))
    assert (first["stream"], second["stream"]) == (0x1000, 0x2000)
    assert {**first, "stream": 0} == {**second, "stream": 0}


def test_a_launch_that_the_driver_refuses_says_why(library: Driver) -> None:
    library.status = 1
    with pytest.raises(KernelError, match=r"refused to launch one: invalid argument \(CUDA error 1\)"):
        bound()()
