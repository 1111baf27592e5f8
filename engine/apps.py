from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from issues.models import Company


class EngineConfig(AppConfig):
    name = "engine"

    def ready(self) -> None:
        import agents.listeners
        import issues.listeners
        from engine.doorbell import ring, ring_to_rehearse

        agents.listeners.doorbells = (ring,)
        agents.listeners.dry_run_bells = (ring_to_rehearse,)
        issues.listeners.approval_carriers = (_carry_out,)
        issues.listeners.known_secrets = (_secrets_of,)


def _carry_out(approval: object, decided_by: object) -> None:
    """Imported when first used: verbs and models are not wanted by every process."""
    from engine.carrying_out import carry_out_approved

    carry_out_approved(approval, decided_by)  # type: ignore[arg-type]


def _secrets_of(company: Company) -> tuple[str, ...]:
    from engine.routing import secrets_of

    return secrets_of(company)
