"""What `kernels` prints of a kernel."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from flashscope.app.commands import kernels


@pytest.mark.parametrize(
    ("features", "backward", "told"),
    [
        ([], [], "  cpu: float32\n"),
        (["causal", "gqa"], [], "  cpu: float32; causal, gqa\n"),
        ([], ["float32"], "  cpu: float32; backward: float32\n"),
    ],
)
def test_a_kernel_that_takes_no_feature_ends_with_its_dtypes(
    features: list[str], backward: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    backend: dict[str, Any] = {
        "dtypes": ["float32"],
        "features": features,
        "backward": backward,
        "reason": "",
    }
    kernel = {"name": "mine", "idea": "it", "backward_idea": "", "backends": {"cpu": backend}}
    machine = SimpleNamespace(device=lambda _backend: object())
    kernels._print([kernel], cast("Any", machine))
    assert capsys.readouterr().out == f"mine: it\n{told}"
