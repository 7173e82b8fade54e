"""Attacks on releases, and the lower bounds on epsilon that they show. `audit.md` argues why the bounds hold.

`audit` repeats many fits, `one_run` needs one; both attackers know every row but one. `membership` attacks a fitted
model through its predictions.
"""

from privet.attack.audit import Audit, audit
from privet.attack.membership import Membership, membership_inference
from privet.attack.one_run import OneRun, audit_in_one_run

__all__ = ["Audit", "Membership", "OneRun", "audit", "audit_in_one_run", "membership_inference"]
