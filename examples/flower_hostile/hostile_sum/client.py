"""A party that can fall silent between its two messages."""

import time

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from privet.partitioned.secure_sum.messages import MASKED
from privet.partitioned.transports.flower import RECORD, answer

app = ClientApp()


@app.query()
def query(message, context):
    """Answer, or wait to be killed where the node's configuration says so."""
    asked = dict(message.content[RECORD])
    if context.node_config.get("silent") and asked["phase"] == MASKED:
        time.sleep(3600)
    return Message(RecordDict({RECORD: ConfigRecord(answer(asked, dict(context.node_config)))}), reply_to=message)
