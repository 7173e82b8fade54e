"""Dask: frames counted partition by partition on the cluster, and an executor for a cluster.

Dask runs a task again when a worker dies. A task returns the counts of one partition and has no other effect.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet.counting.engines.parts import Delivery, TablePartition
from privet.errors import ExecutorError, ParameterError, PrivetError
from privet.lazy import of_extra
from privet.schema.encoding import Encoder


@dataclass(frozen=True)
class DaskFrame:
    """The partitions of a dask DataFrame, counted by the current client, or by threads where there is none."""

    frame: Any

    def deliver(self, work: Any) -> tuple[Sequence[str], Iterable[Delivery]]:
        """Return the ids of all partitions, and their counts."""
        return self._parts(work.encoder).deliver(work)

    def keep(self, make: Any) -> "DaskParts":
        """Return the partitions as ``make`` returns them."""
        return self._parts(make.encoder).keep(make)

    def _parts(self, encoder: Encoder) -> "DaskParts":
        import dask

        schema = encoder.schema
        columns = [name for name in self.frame.columns if name in {*schema.names, schema.target}]
        partitions = self.frame[columns].to_delayed()
        ids = [f"{number}" for number in range(len(partitions))]
        # Not pure: Dask must not reuse the result of an earlier run.
        as_part = dask.delayed(TablePartition, pure=False)
        return DaskParts(ids, [as_part(own, part) for own, part in zip(ids, partitions, strict=True)], _client())


def _client() -> Any:
    """Return the current client, or None; without Dask's cluster being imported there is none."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


@dataclass(frozen=True)
class DaskParts:
    """Parts that Dask knows: readers, delayed ones or, once they are kept by a client's workers, futures.

    Dask runs a task where the part that it needs is, and makes a part again that is lost with its worker.
    """

    ids: Sequence[str]
    parts: Sequence[Any]
    client: Any = None
    watch: Callable[[float], None] | None = None

    def deliver(self, work: Callable[[Any], Delivery]) -> tuple[Sequence[str], Iterable[Delivery]]:
        """Return the ids of all parts, and their results as they come."""
        return self.ids, self._results(work)

    def keep(self, make: Callable[[Any], Any]) -> "DaskParts":
        """Return the parts as ``make`` returns them."""
        import dask

        made = self._tasks(make)
        if self.client is None:
            with _plain_errors():
                made = dask.persist(*made)
        return replace(self, parts=made)

    def _results(self, work: Callable[[Any], Delivery]) -> Iterator[Delivery]:
        import dask

        tasks = self._tasks(work)
        with _plain_errors():
            if self.client is None:
                yield from dask.compute(*tasks)
                return
            from distributed import as_completed

            for number, task in enumerate(as_completed(tasks), start=1):
                if self.watch is not None:
                    self.watch(number / len(tasks))
                yield task.result()
                task.release()

    def _tasks(self, function: Callable[[Any], Any]) -> Sequence[Any]:
        import dask

        if self.client is None or all(hasattr(part, "__dask_graph__") for part in self.parts):
            tasks = [dask.delayed(function, pure=False)(part) for part in self.parts]
            return tasks if self.client is None else self.client.compute(tasks)
        return [self.client.submit(function, part, pure=False) for part in self.parts]


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except (PrivetError, GeneratorExit):
        raise
    except Exception as error:
        raise ExecutorError(
            f"dask failed ({type(error).__name__}) before all rows were counted, and nothing was released; check "
            "its workers, and fit again"
        ) from None  # a worker's message may quote a value


@contextmanager
def cluster_executor(
    address: str, *, ca: Path | None = None, cert: Path | None = None, key: Path | None = None
) -> Iterator[Executor]:
    """Connect to a Dask scheduler and yield an executor. TLS files are needed where Dask's configuration has none."""
    Client = of_extra("distributed", "dask", "a Dask cluster").Client
    security = _security(ca, cert, key)
    try:
        client = Client(address, security=security, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ParameterError(
            f"cannot reach a Dask scheduler at {address!r} ({type(error).__name__}); check the address, and for tls:// "
            "the certificate authority, certificate and key"
        ) from None
    with client:
        yield client.get_executor(pure=False)


def _security(ca: Path | None, cert: Path | None, key: Path | None) -> Any:
    from distributed.security import Security

    files = {"tls_ca_file": ca, "tls_client_cert": cert, "tls_client_key": key}
    given = {name: str(path) for name, path in files.items() if path is not None}
    if not given:
        return None  # Dask uses its own configuration
    for path in given.values():
        if not Path(path).is_file():
            raise ParameterError(f"cannot read {path!r}, which is named for TLS; check the path")
    return Security(require_encryption=True, **given)
