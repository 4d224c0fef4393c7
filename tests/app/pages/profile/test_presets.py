"""Sweeps with a name start from the window, too."""

from msgspec.structs import replace

from flashscope.profiles.plan.presets import PRESETS, preset_plan, with_those_at
from tests.app.bench import Bench
from tests.matrix import chosen


@chosen("name", PRESETS, {"drawn"})
def test_a_preset_runs_its_own_problems_by_the_forms_protocol_and_seed(bench: Bench, name: str) -> None:
    asked = bench.page.form.request()
    bench.page.form.show_request(replace(asked, seed=7, protocol=replace(asked.protocol, repeats=3)))
    offered = {action.key: action for action in bench.page.actions_offered()}
    offered[f"profile.preset.{name}"].trigger()
    (plan,) = bench.engine.plans
    assert plan.protocol.repeats == 3
    assert plan == with_those_at(None, preset_plan(name, plan.backend, plan.protocol, seed=7))


def test_a_preset_runs_also_while_the_form_has_nothing_to_run(bench: Bench) -> None:
    bench.page.form.chips.field.setText("many")
    assert bench.page.form.blocked_reason is not None
    bench.page.run_preset("thin")
    assert len(bench.engine.plans) == 1
