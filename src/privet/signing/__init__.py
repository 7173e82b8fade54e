"""Who signs: names and their Ed25519 keys, rosters of them, and signatures of models.

`documents` has the canonical form that is signed and hashed; `model_signature` says whose model a file is
([argument](model_signature.md)).
"""
