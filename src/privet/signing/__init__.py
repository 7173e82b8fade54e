"""Who signs: names and their Ed25519 keys, rosters of them, and signatures of models.

`documents` has the canonical form that is signed and hashed; `model_signature` says whose model a file is.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names

if TYPE_CHECKING:
    from privet.signing.keys import PrivateKey as PrivateKey
    from privet.signing.keys import PublicKey as PublicKey
    from privet.signing.model_signature import ModelSignature as ModelSignature
    from privet.signing.model_signature import sign_model as sign_model
    from privet.signing.model_signature import verify_model as verify_model
    from privet.signing.roster import Roster as Roster
else:
    _HOMES = {
        "ModelSignature": "privet.signing.model_signature",
        "PrivateKey": "privet.signing.keys",
        "PublicKey": "privet.signing.keys",
        "Roster": "privet.signing.roster",
        "sign_model": "privet.signing.model_signature",
        "verify_model": "privet.signing.model_signature",
    }
    # Imported on first use: keys and rosters need no scikit-learn, which takes a second or more.
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
