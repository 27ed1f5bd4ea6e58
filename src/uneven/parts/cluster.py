"""What the estimators that work on a Dask cluster share: their client, and what happens if the cluster is gone."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

from uneven.errors import ClusterError, ParameterError, needs_extra
from uneven.inputs import brief


def distributed(feature: str) -> Any:
    """The package ``distributed``; ``feature`` is what needs it, in the plural."""
    with needs_extra(feature, "dask"):
        return import_module("distributed")


def read_client(client: Any, feature: str) -> Any:
    """A connected client; by default the one of this process that was made last."""
    library = distributed(feature)
    if client is None:
        try:
            return library.get_client()
        except ValueError:
            raise ParameterError(
                f"{feature} need a Dask cluster, and this process has no client; make one, such as "
                "dask.distributed.Client(), or give it as client"
            ) from None
    if not isinstance(client, library.Client) or client.asynchronous:
        raise ParameterError(f"client must be a dask.distributed.Client that is not asynchronous, got {brief(client)}")
    return client


def why_gone(client: Any) -> str | None:
    """What to say if the scheduler does not answer any more; None if it does."""
    if client.status == "running":
        return None
    return f"the Dask scheduler at {client.scheduler.addr if client.scheduler else 'an unknown address'} is gone"


def require_scheduler(client: Any, then: str) -> None:
    """Raise unless the scheduler answers; ``then`` says what would work."""
    reason = why_gone(client)
    if reason is not None:
        raise ClusterError(f"{reason}; {then}")


class HoldsClient:
    """An estimator with a parameter ``client``: it belongs to this process, so clones share it and files lack it."""

    client: Any

    def __sklearn_clone__(self) -> Any:
        plain = copy.copy(self)
        plain.client = None
        other = super(HoldsClient, plain).__sklearn_clone__()  # type: ignore[misc]
        other.client = self.client
        return other

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, "client": None}
