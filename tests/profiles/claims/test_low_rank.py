"""Linformer beside exact attention: its error over the rank, in NumPy and in PyTorch."""

import numpy as np
import pytest

from flashscope.profiles.claims import CLAIMS, Lab
from flashscope.profiles.claims.assess import assess
from flashscope.profiles.claims.experiments import low_rank
from tests.profiles.claims.conftest import IN_TORCH
from tests.profiles.claims.test_claims import NOWHERE


def test_at_full_rank_the_projection_is_the_identity_and_nothing_is_lost() -> None:
    q, k, v = low_rank.draw_head(64, 16)
    e = low_rank.projection(64, 64)
    np.testing.assert_array_equal(e, np.eye(64))
    np.testing.assert_allclose(low_rank.linformer(q, k, v, e), low_rank.attend(q, k, v), atol=1e-6)


def test_equal_neighbours_are_projected_without_loss() -> None:
    q, k, v = low_rank.draw_head(64, 16)
    k, v = (np.repeat(x[::4], 4, axis=0) for x in (k, v))
    found = low_rank.linformer(q, k, v, low_rank.projection(16, 64))
    np.testing.assert_allclose(found, low_rank.attend(q, k, v), atol=1e-5)


def test_memory_and_operations_grow_with_the_rank_and_not_with_n_squared() -> None:
    held = [low_rank.low_rank_bytes(n, 64, 64) for n in (1024, 2048)]
    assert held[1] < 2 * held[0]
    assert low_rank.low_rank_bytes(2048, 64, None) == 4 * low_rank.low_rank_bytes(1024, 64, None)
    assert low_rank.operations(1024, 64, 512) == low_rank.operations(1024, 64, None)


@pytest.mark.torch
@pytest.mark.matrix  # another process that imports PyTorch takes seconds
def test_in_pytorch_it_runs_in_a_process_of_its_own() -> None:
    (claim,) = (one for one in CLAIMS if one.key == IN_TORCH)
    finding = assess(claim, NOWHERE)
    assert finding.verdict != "cannot be tested", finding.measured
    assert "PyTorch on" in finding.source
    assert finding.measured.startswith("approximate")


def test_whoever_has_had_enough_does_not_wait_for_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_rank, "installed", lambda _module: True)
    (claim,) = (one for one in CLAIMS if one.key == IN_TORCH)
    finding = assess(claim, Lab(NOWHERE.recordings, stopped=lambda: True))
    assert finding.verdict == "cannot be tested"


def test_without_pytorch_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_rank, "installed", lambda _module: False)
    (claim,) = (one for one in CLAIMS if one.key == IN_TORCH)
    assert 'pip install -e ".[torch]"' in assess(claim, NOWHERE).measured
