"""An executor of Dask takes the place of the threads."""

from __future__ import annotations

from pathlib import Path

from distributed import Client, LocalCluster

from ackclock.campaign import run_grid, summaries
from ackclock.grid import Grid
from ackclock.store import Store

STUDY = """\
scenario = "tiny.toml"
replicates = 4
[grid]
"topology.queue.limit" = ["5 packets", "10 packets"]
"""


def test_workers_of_a_cluster_leave_what_threads_leave(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    grid = Grid.load(tmp_path / "study.toml")
    with Store() as store:
        run_grid(grid, store, workers=2)
        expected = list(summaries(grid, store))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
        Client(cluster) as client,
        Store(tmp_path / "out") as store,
    ):
        run_grid(grid, store, executor=client.get_executor(), workers=2)
        assert list(summaries(grid, store)) == expected
    assert len(list((tmp_path / "out" / "samples").iterdir())) == 4
