from typing import Any

from django.apps import AppConfig
from django.core import checks


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        from agents.services.verdicts import write_verdict
        from agents.services.wakeups import on_wake
        from agents.services.withdrawing import withdraw_wakeups
        from issues import listeners

        checks.register(check_own_models)

        listeners.wake_listeners = (on_wake,)
        listeners.wakeup_withdrawers = (withdraw_wakeups,)
        listeners.approval_listeners = (write_verdict,)


def check_own_models(**_: Any) -> list[checks.CheckMessage]:
    """An operator's file of models that cannot be used is a warning: Trimus runs, with less knowledge."""
    from agents.own_models import own_models

    problem = own_models().problem
    return [checks.Warning(problem, id="agents.W001")] if problem else []
