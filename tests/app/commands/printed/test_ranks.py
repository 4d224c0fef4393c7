"""What `ranks` prints of ranks on GPUs: efficiency, a model that is called one, and what has none of both."""

import msgspec
import pytest
from msgspec.structs import replace

from flashscope.app.commands.printed.ranks import print_forecasts, print_modelled, print_results
from flashscope.app.words.ranks import refusals_of
from flashscope.profiles.results.formats.ranks import ranks_documents, ranks_lines
from flashscope.profiles.results.model.ranks import efficiency_of, forecasts, modelled, rates_of
from flashscope.profiles.wire.ranks import RanksCompared, RanksEnded, RanksError, RanksResult
from tests.profiles.rank_results import PROBLEM, measured, on_four, result


def test_efficiency_is_the_time_alone_over_n_times_the_time_of_n(capsys: pytest.CaptureFixture[str]) -> None:
    assert efficiency_of(measured()) == pytest.approx(110 / 120)
    print_results([result(measured())])
    told = capsys.readouterr().out
    assert "91.7%" in told
    assert "1.83×" in told
    assert "25%; O: 1.0e-03" in told


def test_ranks_that_share_a_gpu_have_no_efficiency_and_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    one = measured(devices=(0, 0))
    assert efficiency_of(one) is None
    assert rates_of(one) is None
    print_results([result(one)])
    assert "no time is that of several GPUs" in capsys.readouterr().out


def test_more_than_all_of_n_times_one_gpu_is_explained_by_the_rates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_results([result(measured(alone_ms=(132.0,)))])
    told = " ".join(capsys.readouterr().out.split())
    assert "110.0%" in told
    rates = [f"{PROBLEM.flops / 1e12 / seconds:.0f} TFLOP/s" for seconds in (0.132, 0.11)]
    assert f"for one GPU with all of it reaches {rates[0]} and a rank with its part {rates[1]}." in told
    print_results([result(measured())])
    assert "more than 100%" not in capsys.readouterr().out


def test_without_a_time_alone_the_reason_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([result(measured(alone_ms=(), alone_missing="One device would need 90 GiB."))])
    assert "zigzag, causal, N = 64k, forward: One device would need 90 GiB." in capsys.readouterr().out


def test_what_is_judged_in_drawn_rows_says_in_how_many_and_what_they_would_miss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    in_all, drawn = RanksCompared(heads=8), RanksCompared(heads=8, rows=66, seed=3)
    print_results([result(measured(compared=in_all)), result(measured(compared=None))])
    assert "Judged" not in capsys.readouterr().out
    print_results([result(measured(compared=drawn)), result(measured(compared=drawn, passes="backward"))])
    told = " ".join(capsys.readouterr().out.split())
    assert (
        told.count("in 66 rows of each rank, drawn by seed 3, and at the ends of chunks, in each of 8") == 1
    )
    assert "a fault in 10% of a rank's rows is met with 99.9%" in told
    assert "from the ranks' own O and LSE" in told


def test_of_what_was_broken_off_the_passes_that_are_missing_are_named() -> None:
    kept = result(measured(), passes="both")
    broken = RanksResult(replace(kept.asked, gpus=4), kept.passes, RanksEnded(reason="It ended."))
    assert refusals_of([broken]) == ["zigzag, causal, N = 64k, backward, 4 ranks: It ended."]


def test_what_moves_by_nccl_says_so_and_is_told_apart_from_copies(capsys: pytest.CaptureFixture[str]) -> None:
    copied = result(measured())
    sent = replace(copied, asked=replace(copied.asked, transport="nccl"))
    print_results([copied, sent])
    print_forecasts([copied, sent])
    lines = [line for line in capsys.readouterr().out.splitlines() if "zigzag" in line]
    assert ["NCCL" in line for line in lines] == [False, True, False, True]


def test_what_is_wrong_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([result(measured(errors=(RanksError(output="O", error=None, bound=1.0),), passed=False))])
    told = capsys.readouterr().out
    assert "wrong" in told
    assert "91.7%" not in told
    assert "O: no number" in told


def test_the_model_goes_by_measured_rates_and_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    rates = rates_of(measured())
    assert rates is not None
    assert rates.flops_s == pytest.approx(PROBLEM.flops / 0.11)
    assert rates.link_bytes_s == pytest.approx(3e11)
    assert [line.found.ranks for line in forecasts([result(measured())])] == [8, 64, 512]
    print_forecasts([result(measured())])
    assert "A model, no measurement" in capsys.readouterr().out
    model = msgspec.to_builtins(ranks_documents([result(measured())])[0])["model"]
    assert [one["ranks"] for one in model] == [8, 64, 512]
    assert model[0]["efficiency"] > model[1]["efficiency"] > model[2]["efficiency"]


def test_what_more_gpus_reached_stands_beside_the_model_of_fewer_with_the_difference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    two, four = result(measured()), result(on_four())
    print_modelled(modelled([four]))
    assert not capsys.readouterr().out
    print_modelled(modelled([two, four]))
    told = capsys.readouterr().out
    assert "beside a model of it from the rates on fewer GPUs" in told
    assert told.splitlines()[-1].split()[3:] == ["64k", "4", "85.9%", "100.0%", "2", "ranks", "−14.1", "pp"]
    (document,) = ranks_documents([four], earlier=[two])
    (found,) = msgspec.to_builtins(document)["model_from_fewer"]
    assert (found["pass"], found["from_ranks"]) == ("forward", 2)
    assert found["difference"] == pytest.approx(found["measured"] - found["efficiency"])
    assert found["difference"] == pytest.approx(-0.141, abs=1e-3)
    heading, *lines = ranks_lines([two, four])
    assert [dict(zip(heading, line, strict=True))["model_ranks"] for line in lines] == [None, 2]
