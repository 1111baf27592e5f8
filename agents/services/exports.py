"""Taking a company's data along."""

from __future__ import annotations

from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.models import Company
from issues.policies import Right, require


@service
def begin_export(*, actor: Actor, company: Company) -> Company:
    """Let an owner have all of the company's data; that somebody took it stays written down."""
    require(actor, Right.MANAGE_COMPANY, company)
    record(actor, "company.exported", company)
    return company
