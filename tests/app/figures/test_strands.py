"""What the plots of a comparison over N draw."""

import numpy as np

from flashscope.app.figures.strands import comparison_curves, sheets
from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.quantities.registry import SPEEDUP
from tests.profiles.results.compare.built import rounds, session


def test_curves_of_a_speed_up_are_over_the_same_kernel_in_every_session_as_its_pairs_are() -> None:
    base = session({("flash2", 512): rounds(4.0), ("flash3", 512): rounds(2.0)})
    slow = {("standard", 512): rounds(9.0)}
    other = session({**slow, ("flash3", 512): rounds(2.0), ("flash2", 512): rounds(6.0)})
    comparison = compare(base, [other], SPEEDUP)
    (sheet,) = sheets(comparison, comparison_curves(comparison)).values()
    found = {(strand.session, strand.kernel): round(float(strand.value[0]), 3) for strand in sheet.curves}
    assert found.pop((1, "standard")) == round(6 / 9, 3)
    assert found == {(0, "flash2"): 1.0, (0, "flash3"): 2.0, (1, "flash2"): 1.0, (1, "flash3"): 3.0}
    for pair in comparison.contrasts[0].pairs:
        assert pair.other_figure is not None
        assert np.isclose(pair.other_figure.value or 0.0, found[1, pair.kernel], rtol=1e-3)
