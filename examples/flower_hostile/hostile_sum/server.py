"""A carrier that changes the key of one party on its way to the others."""

import json
from pathlib import Path

from flwr.serverapp import ServerApp

from privet.partitioned import PrivateKey
from privet.partitioned.secure_sum.messages import KEY, MASKED
from privet.partitioned.transports.flower import asker, open_round, terms_of
from privet.signing.documents import canonical

app = ServerApp()


@app.main()
def main(grid, context):
    """Run a round; what was seen of the victim's key is kept for a replay."""
    settings = dict(context.run_config)
    terms = terms_of(settings)
    ask = asker(grid, terms, timeout=float(settings["timeout"]))
    kept = Path(str(settings["output"])).with_suffix(".overheard")

    def hostile_ask(asked):
        if asked["phase"] == MASKED and settings["attack"]:
            asked = attacked(asked, settings["victim"], settings["attack"], kept)
        replies = ask(asked)
        if asked["phase"] == KEY and not settings["attack"]:
            kept.write_bytes(next(reply["message"] for reply in replies if reply["party"] == settings["victim"]))
        return replies

    open_round(hostile_ask, terms, int(settings["attempt"])).save(str(settings["output"]))


def attacked(asked, victim, attack, kept):
    """Return the question with the victim's key forged, or with its key of an earlier attempt."""
    messages = dict(zip(asked["names"], asked["messages"], strict=True))
    messages[victim] = kept.read_bytes() if attack == "replay" else forged(messages[victim], victim)
    return asked | {"messages": list(messages.values())}


def forged(message, victim):
    """Return the message with another key for the masks, signed by a key that is not the victim's."""
    body = {name: value for name, value in json.loads(message).items() if name != "signature"}
    body["public"] = "09" + "00" * 31
    return canonical({**body, "signature": PrivateKey.generate(victim).sign(body)})
