"""The Jasem papers: what their choices and claims say of themselves, and single readings by reasoning."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ackclock.reproduce.claims import claims_of
from ackclock.reproduce.metrics import METRICS
from ackclock.reproduce.paper import Paper
from ackclock.reproduce.readings import CHOSEN, Reading, singles
from ackclock.reproduce.runs import Batch, Plan, Run, plan, runs_of
from ackclock.running.store import Store
from ackclock.running.work import fill

PAPERS = ("jasem-efficiency", "jasem-utilization")


def reading(paper: Paper, name: str) -> Reading:
    """The reading that changes one answer."""
    (found,) = (each for each in (CHOSEN, *singles(paper.choices)) if each.name == name)
    return found


def one_run(paper: Paper, name: str, **values: object) -> Run:
    """The first replicate of a cell under a reading."""
    planned = plan(paper, Batch(reading(paper, name), 1), 1)
    (cell,) = (each for each in planned.cells if each.values == values)
    with Store(None) as store:
        fill(cell.study.jobs, store, workers=1)
        ((found,),) = (each.runs for each in runs_of(paper, Plan(CHOSEN, (cell,)), store, {}).select(values))
    return found


def measured(run: Run, *names: str) -> Iterator[float]:
    return (METRICS[name](run) for name in names)


@pytest.mark.parametrize("name", PAPERS)
def test_the_chosen_answers_were_written_down_before_any_result(name: str) -> None:
    assert {choice.answer.chosen for choice in Paper.load(name).choices} == {"before"}


@pytest.mark.parametrize("name", PAPERS)
def test_what_the_print_does_not_say_has_no_printed_value(name: str) -> None:
    beyond = [claim for claim in claims_of(Paper.load(name)) if claim.section]
    assert {claim.section for claim in beyond} <= {"Beyond the print"}
    assert all(claim.printed is None for claim in beyond)
    said = [claim for claim in claims_of(Paper.load(name)) if not claim.section]
    assert not any("CUBIC" in claim.statement for claim in said)


@pytest.mark.parametrize("segments", [60, 100, 150])
def test_a_capped_flow_alone_leaves_only_its_window_undelivered(segments: int) -> None:
    """The window fills the path of 49 packets, and no queue: nothing is lost, the window is in flight."""
    run = one_run(Paper.load("jasem-efficiency"), f"cap-{segments}", cc="new-aimd", flows=1)
    undelivered, lost, efficiency = measured(run, "undelivered_percent", "loss_percent", "efficiency_percent")
    sent = run.document["flows"][0]["sent"]
    assert lost == 0
    assert undelivered == pytest.approx(100 * segments / sent, rel=0.02)
    assert 0.007 <= undelivered <= 0.0185
    assert efficiency == pytest.approx(94.9, abs=0.05)


def test_a_flow_alone_loses_nothing_at_the_bottleneck() -> None:
    """Its own link is as fast, so that its queue is the one that fills."""
    run = one_run(Paper.load("jasem-efficiency"), "as chosen", cc="new-aimd", flows=1)
    undelivered, lost, dropped = measured(run, "undelivered_percent", "loss_percent", "drop_percent")
    assert dropped == 0
    assert 0.6 < lost < undelivered < 0.7


def test_the_flow_of_an_example_stands_for_all() -> None:
    run = one_run(Paper.load("jasem-efficiency"), "as chosen", cc="new-aimd", flows=2)
    total, example = measured(run, "goodput_total_kb", "goodput_first_times_flows_kb")
    first, second = (flow["goodput_bps"] for flow in run.document["flows"])
    assert example / total == pytest.approx(2 * first / (first + second))


def test_the_more_aimd_fc_plus_keeps_the_more_it_loses() -> None:
    """The less a cut takes, the sooner the queue is full again: f(q) is 0, 1/2 and 9/10 of the gain."""
    paper = Paper.load("jasem-efficiency")
    runs = [one_run(paper, name, cc="aimd-fc+", flows=5) for name in ("f-0", "as chosen", "f-0.9")]
    least, chosen, most = (METRICS["loss_percent"](run) for run in runs)
    assert 0 < least < chosen < most


def test_new_aimd_with_a_base_of_every_recovery_is_aimd_fc() -> None:
    paper = Paper.load("jasem-efficiency")
    base = one_run(paper, "base-recovery", cc="new-aimd", flows=3)
    fc = one_run(paper, "f-0", cc="aimd-fc+", flows=3)
    names = ("loss_percent", "efficiency_percent", "fairness_percent", "timeouts")
    assert list(measured(base, *names)) == list(measured(fc, *names))
