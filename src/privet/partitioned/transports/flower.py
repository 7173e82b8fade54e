"""Messages over Flower: SuperNodes are the parties, and the ServerApp carries bytes that it cannot change unnoticed.

Flower's own secure aggregation is not used. The ServerApp, the SuperLink and those who run them are trusted with
delivery only: every party checks every message against its own copy of the structure and the roster. TLS keeps
outsiders from stopping a round. flwr is imported when an app is made; it is not a dependency of privet.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from privet.errors import ParameterError, PartyError, PrivetError
from privet.partitioned.party import Party
from privet.partitioned.secure_sum.forest import SecureSumForest
from privet.partitioned.secure_sum.messages import KEY, MASKED, SHARES, SURVIVORS, UNMASK, kinds_of
from privet.partitioned.secure_sum.round import SumParty
from privet.partitioned.secure_sum.terms import Terms
from privet.partitioned.split_structure import load_structure
from privet.partitioned.structure import Counts
from privet.partitioned.tables.table_forest import TableForest
from privet.partitioned.tables.table_round import TableRound
from privet.partitioned.tables.two_sums import check_budget, following_terms
from privet.privacy.ledger import Ledger
from privet.signing.documents import parse
from privet.signing.roster import Roster

RECORD = "privet"
Settings: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[dict[str, Any]], Iterable[Mapping[str, Any]]]
# What a party has to see before it sends a message of this kind.
_NEEDED = {
    KEY: (), SHARES: (KEY,), MASKED: (KEY, SHARES), SURVIVORS: (KEY, SHARES, MASKED), UNMASK: (KEY, SHARES, SURVIVORS),
}  # fmt: skip
_PAUSE = 0.5
_LONGEST_SENTENCE = 500


def client_app() -> Any:
    """Return the ClientApp of a party; its SuperNode's ``--node-config`` names the party's files.

    ``structure``, ``roster``, ``key`` and ``rows`` are needed; ``structure-hash``, ``roster-hash``, ``honest``,
    ``dropouts``, ``store``, ``ledger`` and ``dataset`` are as on the command line.
    """
    from flwr.app import ConfigRecord, Message, RecordDict
    from flwr.clientapp import ClientApp

    def query(message: Any, context: Any) -> Any:
        reply = answer(dict(message.content[RECORD]), dict(context.node_config))
        return Message(RecordDict({RECORD: ConfigRecord(reply)}), reply_to=message)

    app = ClientApp()
    app.query()(query)
    return app


def server_app() -> Any:
    """Return the ServerApp of a round; the run's configuration names its files.

    ``structure``, ``roster`` and ``output`` are needed; ``honest`` (0 stands for all but one), ``dropouts``,
    ``attempt`` and ``timeout`` are as on the command line.
    """
    from flwr.serverapp import ServerApp

    def main(grid: Any, context: Any) -> None:
        settings = dict(context.run_config)
        terms, output = terms_of(settings), str(settings["output"])
        ask = asker(grid, terms, timeout=float(settings.get("timeout", 600)))
        model = open_round(ask, terms, int(settings.get("attempt", 1)), first=lambda one: one.save(output))
        model.save(output)
        print("privet: the sum is open, and the model is saved", file=sys.stderr)

    app = ServerApp()
    app.main()(main)
    return app


def answer(question: Settings, settings: Settings) -> dict[str, Any]:
    """Return a party's reply: its message, or why it sends none.

    Errors about messages are sent back. Errors about the party's own files go to its own log only.
    """
    try:
        party = _prepare_party(question, settings)
    except PrivetError as error:
        print(f"privet: {error}", file=sys.stderr)
        return {"party": "", "refused": "a party could not take part; its own log says why"}
    try:
        return {"party": party.name, "message": _message(party, question)}
    except PrivetError as error:
        print(f"privet: {error}", file=sys.stderr)
        return {"party": party.name, "refused": str(error)}


def open_round(
    ask: Ask, terms: Terms, attempt: int, *, first: Callable[[TableForest], None] = lambda _: None
) -> SecureSumForest | TableForest:
    """Ask all parties for each message, pass on those before it, and open the sum.

    From class tables a second round follows. Parties are shown all messages of the first, so that each opens it itself;
    ``first`` is called with its model, which is valid by itself if the second round fails.
    """
    seen = _all_messages(ask, terms, attempt, {})
    if not isinstance(terms.structure, TableRound):
        return SecureSumForest.open(terms, attempt, *seen.values())
    model = TableForest.open(terms, attempt, *seen.values())
    first(model)
    kinds, names, messages = map(list, zip(*_listed(seen), strict=True))
    shown = {"first kinds": kinds, "first names": names, "first messages": messages}
    following = following_terms(model, terms)
    return TableForest.open(following, attempt, *_all_messages(ask, following, attempt, shown).values())


def _all_messages(ask: Ask, terms: Terms, attempt: int, shown: dict[str, Any]) -> dict[str, dict[str, bytes]]:
    seen: dict[str, dict[str, bytes]] = {}
    for kind in kinds_of(terms):
        question: dict[str, Any] = {"phase": kind, "attempt": attempt, **shown}
        passed_on = _listed({each: seen[each] for each in _NEEDED[kind] if each in seen})
        if passed_on:
            kinds, names, messages = map(list, zip(*passed_on, strict=True))
            question |= {"names": names, "messages": messages} | ({"kinds": kinds} if terms.dropouts else {})
        least = terms.n_parties if kind == KEY else terms.threshold
        seen[kind] = _by_party(ask(question), terms, kind, least)
        if kind == MASKED and terms.dropouts:
            # Those who have answered before repeat it, so a run that is started again goes on with the same parties.
            shares, seen[MASKED] = _most_common(seen[MASKED], "shares")
            seen[SHARES] = {name: message for name, message in seen[SHARES].items() if name in shares}
    return seen


def _listed(seen: Mapping[str, Mapping[str, bytes]]) -> list[tuple[str, str, bytes]]:
    return [(kind, *pair) for kind, messages in seen.items() for pair in messages.items()]


def terms_of(settings: Settings) -> Terms:
    """Return the terms that ``settings`` name by file."""
    _check_named(settings, "structure", "roster")
    structure = load_structure(str(settings["structure"]), pin=settings.get("structure-hash"))
    if not isinstance(structure, Counts):
        raise PartyError("the parties of this structure release models of their own, so there is no sum")
    roster = Roster.load(str(settings["roster"]), pin=settings.get("roster-hash"))
    return Terms(structure, roster, settings.get("honest") or None, settings.get("dropouts") or 0)


def asker(grid: Any, terms: Terms, *, timeout: float) -> Ask:
    """Return a function that asks all SuperNodes, and waits until every party has replied or the time is over.

    Flower lists a SuperNode twice for a while after a restart, so fewer may reply than are asked.
    """

    def ask(question: dict[str, Any]) -> list[Mapping[str, Any]]:
        end = time.monotonic() + timeout
        nodes = _wait_for_nodes(grid, terms.n_parties if question["phase"] == KEY else terms.threshold, end)
        waited_for = {
            str(message_id) for message_id in grid.push_messages([_question(question, node) for node in nodes])
        }
        replies: list[Mapping[str, Any]] = []
        while len(replies) < terms.n_parties and waited_for and time.monotonic() < end:
            for reply in grid.pull_messages(sorted(waited_for)):
                waited_for.discard(reply.metadata.reply_to_message_id)
                if reply.has_content():
                    replies.append(dict(reply.content[RECORD]))
            time.sleep(_PAUSE)
        return replies

    return ask


def _question(question: dict[str, Any], node: int) -> Any:
    from flwr.app import ConfigRecord, Message, MessageType, RecordDict

    return Message(RecordDict({RECORD: ConfigRecord(question)}), dst_node_id=node, message_type=MessageType.QUERY)


def _wait_for_nodes(grid: Any, n_needed: int, end: float) -> list[int]:
    nodes = list(grid.get_node_ids())
    while len(nodes) < n_needed and time.monotonic() < end:
        time.sleep(_PAUSE)
        nodes = list(grid.get_node_ids())
    return nodes


def _prepare_party(question: Settings, settings: Settings) -> SumParty:
    """Return the party that ``settings`` describe, with its noised counts drawn and stored."""
    _check_named(settings, "key", "rows")
    key, ledger = Path(str(settings["key"])), settings.get("ledger")
    account = Ledger(str(ledger), dataset=str(settings.get("dataset"))) if ledger else None
    party = Party(key, store=str(settings.get("store") or key.with_suffix(".releases")), ledger=account)
    terms = terms_of(settings)
    if isinstance(terms.structure, TableRound):
        check_budget(party, terms)
    if "first kinds" in question:
        terms = _opened_terms(terms, question)
    prepared = SumParty(party, terms)
    prepared.prepare(str(settings["rows"]))
    return prepared


def _opened_terms(terms: Terms, question: Settings) -> Terms:
    """Return the terms of a second round: of the one sum that the signed messages of the first open."""
    seen: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds_of(terms)}
    shown = (question[f"first {what}"] for what in ("kinds", "names", "messages"))
    for kind, name, message in zip(*shown, strict=True):
        seen.setdefault(kind, {})[name] = message
    return following_terms(TableForest.open(terms, question["attempt"], *seen.values()), terms)


def _message(party: SumParty, question: Settings) -> bytes:
    kind = question.get("phase")
    if kind not in kinds_of(party.terms):
        raise PartyError("the server asks for a message that no secure sum has; update privet there or here")
    said = party.said(kind, question["attempt"])
    if said is not None:
        return said
    names, messages = question.get("names", []), question.get("messages", [])
    seen: dict[str, dict[str, bytes]] = {each: {} for each in _NEEDED[kind]}
    for each, name, message in zip(question.get("kinds", [KEY] * len(names)), names, messages, strict=True):
        seen.setdefault(each, {})[name] = message
    return party.message(kind, question["attempt"], seen)


def _by_party(replies: Iterable[Mapping[str, Any]], terms: Terms, kind: str, least: int) -> dict[str, bytes]:
    """Return the messages by party, from at least so many. Where some may vanish, one that refuses counts as such."""
    messages: dict[str, bytes] = {}
    refusals = []
    for reply in replies:
        name = _in_plain_text(reply.get("party"))
        if "refused" in reply:
            refusals.append(f"{name or 'a SuperNode'} stopped the round: {_in_plain_text(reply['refused'])}")
            continue
        if name in messages:
            raise PartyError(f"two SuperNodes speak for {name!r}; nothing was opened: stop one of them")
        messages[name] = bytes(reply["message"])
    missing = [name for name in terms.roster.names if name not in messages]
    if terms.n_parties - len(missing) >= least:
        return {name: messages[name] for name in terms.roster.names if name in messages}
    if refusals:
        raise PartyError(refusals[0])
    # Parties that have taken masks off begin no other attempt.
    next_ = "run this attempt again" if kind in (SURVIVORS, UNMASK) else "run the next attempt"
    raise PartyError(
        f"no {kind} message came from {', '.join(map(repr, missing))} in time; nothing was opened; when all are "
        f"ready, {next_}"
    )


def _most_common(messages: Mapping[str, bytes], part: str) -> tuple[Any, dict[str, bytes]]:
    """Return what most messages say in ``part``, and those that do."""
    said = {name: parse(message, f"the message of {name!r}").get(part) for name, message in messages.items()}
    common = max(said.values(), key=list(said.values()).count)
    return common, {name: message for name, message in messages.items() if said[name] == common}


def _in_plain_text(text: object) -> str:
    """Return text from another machine without characters that could control a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text)[:_LONGEST_SENTENCE]).rstrip(".;")


def _check_named(settings: Settings, *names: str) -> None:
    missing = [name for name in names if not settings.get(name)]
    if missing:
        raise ParameterError(f"the configuration does not name {', '.join(missing)}; add the path of each file")
