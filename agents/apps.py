from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        from agents.services.wakeups import on_wake
        from issues import listeners

        listeners.wake_listeners = (on_wake,)
