"""Training on the released answers, in a thread of its own, and publishing what came of it."""

import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import NoGuaranteeWarning, PrivetError
from privet.files.whole_file import whole_bytes
from privet.service.collect.reports import Reports
from privet.service.collect.store import AnswerStore
from privet.service.requests import Refusal

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.service.collect.folder import CollectFolder

_STOPPED = "the training stopped unexpectedly; export the answers and run `privet fit`"


class Training:
    """One training at a time."""

    def __init__(self, folder: "CollectFolder", store: AnswerStore) -> None:
        self._folder, self._store = folder, store
        self._lock = threading.Lock()
        self._status = "idle"
        self._why: str | None = None

    def state(self) -> dict[str, Any]:
        """Return how the training stands, and which model it made."""
        return {"training": self._status, "why": self._why, "model": self._folder.trained}

    def start(self) -> None:
        """Begin to train on what is released now."""
        check_ready(self._folder, self._store)
        with self._lock:
            if self._status == "running":
                raise Refusal(409, "busy", "a training runs already; wait for its end")
            self._status, self._why = "running", None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            train(self._folder, self._store)
            self._status = "idle"
        except PrivetError as error:
            self._status, self._why = "failed", str(error)
        except Exception:  # its text may quote an answer
            self._status, self._why = "failed", _STOPPED


def check_ready(folder: "CollectFolder", store: AnswerStore) -> None:
    """Refuse to train on fewer answers than the minimum, or where no method fits the channel."""
    if store.n_released() < folder.settings.minimum:
        raise Refusal(409, "too_few", "too few answers are released for a model; wait for more")
    method_for(folder.channel)


def train(folder: "CollectFolder", store: AnswerStore) -> None:
    """Fit the method that fits the channel to the released answers, and keep the model."""
    from privet.registry import LOCAL_METHODS

    method = method_for(folder.channel)
    model = LOCAL_METHODS[method](folder.channel.schema, channel=folder.channel, n_jobs=1)
    with tempfile.TemporaryDirectory() as scratch:
        answers = Path(scratch) / "answers.csv"
        n = write_answers(folder.channel, store, answers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoGuaranteeWarning)  # the model's guarantee says it
            model.fit(answers)
    folder.save_trained(model, method=method, answers=n, guarantee=str(model.guarantee_))


def publish(folder: "CollectFolder") -> None:
    """Offer the trained model to respondents: each file is replaced whole."""
    from privet.export import export_model
    from privet.registry import load

    if folder.trained is None:
        raise Refusal(409, "no_model", "no model is trained yet; train one first")
    model = load(folder.model_file)
    for kind in ("json", "js"):
        export_model(model, folder.published(kind), format=kind)
    folder.mark_published()


def write_answers(channel: "Channel", store: AnswerStore, path: Path) -> int:
    """Write the released answers as `privet fit` reads them, and return how many there are."""
    lines = list(Reports(channel).csv_lines(store.released()))
    with whole_bytes(path) as file:
        file.writelines(line.encode() for line in lines)
    return len(lines) - 1


def method_for(channel: "Channel") -> str:
    """Return the method that is best for answers through a channel."""
    from privet.registry import LOCAL_METHODS

    fitting = [name for name in channel.fitted_by if name in LOCAL_METHODS]
    if not fitting:
        raise Refusal(409, "no_method", "no method of this privet fits answers through this channel; export them")
    return fitting[0]
