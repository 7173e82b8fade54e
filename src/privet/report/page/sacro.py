"""The summary that output checkers of trusted research environments know from SACRO-ML's safe models.

SACRO-ML (https://github.com/AI-SDC/SACRO-ML) writes such a record for a model that a researcher asks to take out:
`researcher`, `model_type`, `model_save_file`, `details`, `recommendation` and, where release is not recommended,
`reason`. Its two recommendations are used word for word.
"""

from typing import Any

from privet.privacy.guarantee import SOUND
from privet.report.evidence import Evidence

PROCEED, STOP = "Proceed to next step of checking", "Do not allow release"


def checkfile(method: str, file: str, guarantee: dict[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return the record: release is advised against without a sound promise, with leaks, or if an attack beat it."""
    reasons = [
        *([] if guarantee["mode"] == SOUND else [f"the promise is not sound: {guarantee['reason']}"]),
        *(f"read from the rows without noise: {leak}" for leak in guarantee["leaks"]),
        *(f"more was shown than is promised: {each.name}" for each in evidence.attachments if each.contradicts),
    ]
    return {
        "researcher": evidence.about.contact if evidence.about else "",
        "model_type": method,
        "model_save_file": file,
        "details": guarantee["sentence"],
        "recommendation": STOP if reasons else PROCEED,
        **({"reason": "; ".join(reasons)} if reasons else {}),
    }
