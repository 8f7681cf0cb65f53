"""BBR beside CUBIC and under random loss, as the page about it measures them."""

import re

import pytest
from helpers import ROOT

import bbr_figures
from bbr_figures import share


def test_the_page_has_the_share_that_is_measured() -> None:
    page = (ROOT / "docs" / "validation" / "bbr.md").read_text(encoding="utf-8")
    row = re.search(r"^\| 1 BDP \| (.+) \|$", page, re.MULTILINE)
    assert row is not None
    # The profile of the RFCs, which stays; that of Linux follows the kernel.
    measured = [share(kind, 1.0, "rfc") for kind in ("bbr1", "bbr3")]
    assert row[1].split(" | ")[::2] == [f"{each:.2f}" for each in measured]


@pytest.mark.parametrize(("bbr3", "cubic", "code"), [(0.8, 0.01, 0), (0.74, 0.01, 1), (0.8, 0.02, 1)])
def test_what_is_not_met_ends_with_1(
    bbr3: float, cubic: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        bbr_figures, "under_loss", lambda kind, rate, probability: bbr3 if kind == "bbr3" else cubic
    )
    assert bbr_figures.main(["--buffers"]) == code
    assert f"BBRv3 {bbr3:.3f} of the rate" in capsys.readouterr().out
