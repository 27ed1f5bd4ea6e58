"""A small Dask cluster in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def thread_cluster(threads_per_worker: int = 1) -> Iterator[Any]:
    """A client of two workers.

    Threads start faster than processes; with tcp, what is sent is still pickled. Any free port, because Dask leaves a
    socket open if the usual one is taken.
    """
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=threads_per_worker,
            processes=False,
            protocol="tcp",
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster, timeout=600) as client,
    ):
        yield client
