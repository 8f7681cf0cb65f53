"""DCTCP, Prague and DualPI2 against the equations of their papers and RFCs, in a few cells."""

import pytest

import l4s


@pytest.mark.parametrize("name", ["dctcp", "prague", "latency"])
def test_a_few_cells_agree(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert l4s.main([name, "--quick"]) == 0
    assert " not met" in capsys.readouterr().out


def test_the_model_of_dctcp_is_near_its_approximation() -> None:
    # Alizadeh et al.: alpha is about sqrt(2/W) where alpha is small.
    assert l4s.alpha_of_the_model(1000) == pytest.approx((2 / 1000) ** 0.5, rel=0.01)


def test_marks_in_a_round_trip_solve_the_equation() -> None:
    # y = 2 (1 + 1/y) for a large window: y^2 - 2y - 2 = 0.
    assert l4s.marks_per_round(0.05, 1e6, independent=True) == pytest.approx(1 + 3**0.5, rel=1e-3)
    # At 10 ms: y = 2 * 0.16 * (2.5 + 1/y).
    marks = l4s.marks_per_round(0.01, 1e6, independent=True)
    assert marks == pytest.approx(0.32 * (2.5 + 1 / marks), rel=1e-3)


def test_a_cell_outside_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = l4s.Table("dctcp", ("cell",), [("one",)], 0, 1)
    monkeypatch.setitem(l4s.COMPARISONS, "dctcp", lambda *, quick: wrong)
    assert l4s.main(["dctcp"]) == 1
