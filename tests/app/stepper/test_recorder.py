import msgspec
import numpy as np
import pytest

from flashscope.app.stepper.presets import PRESETS, StepperPreset
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import LoopOrder
from tests.app.stepper.builders import build_trace


@pytest.mark.parametrize("order", ["flash1", "flash2"])
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_the_cpu_recorder_agrees_with_a_float64_walk(preset: StepperPreset, order: LoopOrder) -> None:
    recorded = record(preset.make("cpu", order))
    inputs = (recorded.q, recorded.k, recorded.v)
    expected = build_trace(msgspec.structs.replace(recorded.request, inputs=inputs))
    np.testing.assert_array_equal(recorded.tile.numpy(), expected.tile.numpy())
    for name in ("s", "m", "l", "alpha", "o", "output", "exact_output"):
        found, wanted = getattr(recorded, name).numpy(), getattr(expected, name).numpy()
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4, err_msg=name)
