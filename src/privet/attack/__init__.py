"""Attackers who know every row but one, and what they can show of an epsilon."""

from privet.attack.audit import Audit, audit
from privet.attack.membership import Membership, membership_inference
from privet.attack.one_run import OneRun, audit_in_one_run

__all__ = ["Audit", "Membership", "OneRun", "audit", "audit_in_one_run", "membership_inference"]
