"""Dask: frames counted partition by partition on the cluster, and an executor for a cluster.

Dask runs a task again when a worker dies. A task returns the counts of one partition and has no other effect.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.counting.engines.parts import Delivery, TablePartition, Work
from privet.errors import ExecutorError, ParameterError, PrivetError


@dataclass(frozen=True)
class DaskFrame:
    """The partitions of a dask DataFrame, counted by the current client, or by threads where there is none."""

    frame: Any

    def deliver(self, work: Work) -> tuple[Sequence[str], Sequence[Delivery]]:
        """Return the ids of all partitions, and their counts."""
        import dask

        schema = work.encoder.schema
        columns = [name for name in self.frame.columns if name in {*schema.names, schema.target}]
        partitions = self.frame[columns].to_delayed()
        ids = [f"{number}" for number in range(len(partitions))]
        # Not pure: Dask must not reuse the result of an earlier run.
        count = dask.delayed(_count, pure=False)
        tasks = [count(work, own, partition) for own, partition in zip(ids, partitions, strict=True)]
        try:
            return ids, dask.compute(*tasks)
        except PrivetError:
            raise
        except Exception as error:
            raise ExecutorError(
                f"dask failed ({type(error).__name__}) before all rows were counted, and nothing was released; check "
                "its workers, and fit again"
            ) from None  # a worker's message may quote a value


def _count(work: Work, own: str, table: Any) -> Delivery:
    return work(TablePartition(own, table))


@contextmanager
def cluster_executor(
    address: str, *, ca: Path | None = None, cert: Path | None = None, key: Path | None = None
) -> Iterator[Executor]:
    """Connect to a Dask scheduler and yield an executor. TLS files are needed where Dask's configuration has none."""
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError(
            "a Dask cluster needs the package distributed; install it with pip install 'privet[dask]'"
        ) from None
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
