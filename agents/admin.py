"""The tables of the workers and their work on the admin site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin

from agents import models
from agents.services.agents import edit_agent, pause_agent, resume_agent, terminate_agent
from agents.services.providers import remove_provider
from agents.services.routines import switch_routine
from agents.services.runs import cancel_run, retry_run
from agents.services.skills import edit_skill
from agents.services.wakeups import run_agent
from issues.actors import Person
from issues.administration import Edited, Shown, action, link


@admin.register(models.Agent)
class AgentPage(Edited):
    list_display = (
        "handle",
        "name",
        "role",
        link("company"),
        link("manager"),
        "status",
        "adapter",
        "provider",
        "model",
    )
    list_select_related = ("company", "manager")
    list_filter = ("status", "adapter", "policy", "company")
    search_fields = ("handle", "name", "role", "title")
    long = ("instructions", "knowledge", "script")
    editable = (
        "name",
        "role",
        "title",
        "description",
        "instructions",
        "knowledge",
        "adapter",
        "model_tier",
        "provider",
        "model",
        "script",
        "command",
        "tier",
        "thinking",
        "max_output_tokens",
        "policy",
        "max_concurrent_runs",
        "schedule_minutes",
        "active_hours",
    )
    related = (
        ("issues.issue", "assignee_agent", "issues"),
        ("agents.run", "agent", "runs"),
        ("agents.wakeup", "agent", "wakeups"),
        ("agents.agent", "manager", "reports"),
        ("issues.comment", "author_agent", "comments"),
        ("agents.note", "agent", "notes"),
        ("agents.observation", "agent", "observations"),
        ("agents.spending", "agent", "spending"),
        ("issues.apikey", "agent", "keys"),
        ("issues.policyrule", "agent", "policy"),
        ("issues.activity", "agent", "activity"),
    )
    actions = [
        action("run_heartbeat", "Run heartbeat", lambda person, row: run_agent(actor=person, agent=row)),
        action("pause", "Pause", lambda person, row: pause_agent(actor=person, agent=row)),
        action("resume", "Resume", lambda person, row: resume_agent(actor=person, agent=row)),
        action("terminate", "Terminate", lambda person, row: terminate_agent(actor=person, agent=row)),
    ]

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        return edit_agent(actor=person, agent=row, **changes)


@admin.register(models.InstructionsVersion)
class InstructionsVersionPage(Shown):
    list_display = ("pk", link("agent"), "number", link("member"), link("by_agent"), "written_at")
    list_select_related = ("agent", "member__user", "by_agent")
    list_filter = ("written_at",)
    search_fields = ("agent__name", "text")
    long = ("text",)


@admin.register(models.Skill)
class SkillPage(Edited):
    list_display = ("name", link("company"), "description", "enabled", "updated_at")
    list_select_related = ("company",)
    list_filter = ("enabled", "company")
    search_fields = ("name", "description", "body")
    long = ("body",)
    editable = ("description", "body", "enabled")

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        return edit_skill(actor=person, skill=row, **changes)


@admin.register(models.Routine)
class RoutinePage(Shown):
    list_display = ("name", link("company"), link("assignee"), "cron", "time_zone", "enabled", "next_fire_at")
    list_select_related = ("company", "assignee")
    list_filter = ("enabled", "company")
    search_fields = ("name", "title", "assignee__handle")
    long = ("body",)
    related = (("agents.routinefire", "routine", "fires"),)
    actions = [
        action("turn_on", "Turn on", lambda person, row: switch_routine(actor=person, routine=row, enabled=True)),
        action("turn_off", "Turn off", lambda person, row: switch_routine(actor=person, routine=row, enabled=False)),
    ]


@admin.register(models.RoutineFire)
class RoutineFirePage(Shown):
    list_display = ("pk", link("routine"), "due_at", "fired_at", link("issue"), "skipped_because")
    list_select_related = ("routine", "issue__company")
    list_filter = ("fired_at",)
    search_fields = ("routine__name", "skipped_because")


@admin.register(models.Wakeup)
class WakeupPage(Shown):
    list_display = ("pk", "source", link("agent"), link("issue"), "state", "due_at", link("run"), "ended_because")
    list_select_related = ("agent", "issue__company", "run")
    list_filter = ("state", "source", "company")
    search_fields = ("agent__handle", "issue__title", "reason", "ended_because")
    related = (("agents.run", "wakeups", "runs"),)


@admin.register(models.Run)
class RunPage(Shown):
    list_display = ("pk", link("agent"), link("issue"), "state", "model", "input_tokens", "output_tokens", "created_at")
    list_select_related = ("agent", "issue__company")
    list_filter = ("state", "adapter", "provider", "error_kind", "company")
    search_fields = ("agent__handle", "issue__title", "model", "error")
    long = ("system_message", "user_message", "prompt_sections", "reply", "dropped", "error")
    related = (
        ("agents.runaction", "run", "actions"),
        ("agents.modelcall", "run", "calls"),
        ("agents.dryrun", "run", "dry re-runs"),
        ("agents.wakeup", "run", "wakeups it delivers"),
        ("agents.wakeup", "cause_run", "wakeups it caused"),
        ("issues.comment", "run", "comments"),
        ("issues.approval", "run", "approvals"),
        ("issues.activity", "run", "activity"),
    )
    actions = [
        action("cancel", "Cancel", lambda person, row: cancel_run(actor=person, run=row)),
        action("retry", "Run again", lambda person, row: retry_run(actor=person, run=row)),
    ]


@admin.register(models.DryRun)
class DryRunPage(Shown):
    list_display = ("pk", link("run"), link("member"), "state", "model", "tokens", "error_kind", "created_at")
    list_select_related = ("run", "member__user")
    list_filter = ("state", "error_kind", "company")
    search_fields = ("model", "error")
    long = ("reply", "prose", "actions", "dropped", "error")


@admin.register(models.RunAction)
class RunActionPage(Shown):
    list_display = ("pk", link("run"), "ordinal", "verb", "args", "outcome", "reason", link("issue"))
    list_select_related = ("run", "issue__company")
    list_filter = ("outcome", "verb")
    search_fields = ("verb", "args", "reason")
    long = ("body", "before", "after")


@admin.register(models.ModelCall)
class ModelCallPage(Shown):
    list_display = ("pk", link("run"), "purpose", "provider", "model", "input_tokens", "output_tokens", "error_kind")
    list_select_related = ("run",)
    list_filter = ("purpose", "provider", "error_kind", "company")
    search_fields = ("model", "answered_model", "request_id", "error")
    long = ("error",)


@admin.register(models.Checkpoint)
class CheckpointPage(Shown):
    list_display = ("pk", link("issue"), "number", link("agent"), "comments", "problem", "created_at")
    list_select_related = ("issue__company", "agent")
    list_filter = (("problem", admin.EmptyFieldListFilter), "created_at")
    search_fields = ("issue__title", "problem")
    long = ("fields",)


@admin.register(models.Note)
class NotePage(Shown):
    list_display = ("key", link("agent"), link("run"), "written_at")
    list_select_related = ("agent", "run")
    list_filter = ("written_at",)
    search_fields = ("key", "text", "agent__handle")


@admin.register(models.Observation)
class ObservationPage(Shown):
    list_display = ("text", link("agent"), link("issue"), link("run"), "made_at")
    list_select_related = ("agent", "issue__company", "run")
    list_filter = ("made_at",)
    search_fields = ("text", "agent__handle")


@admin.register(models.Budget)
class BudgetPage(Shown):
    list_display = ("pk", link("company"), link("agent"), "tokens", "microdollars", "runs")
    list_select_related = ("company", "agent")
    list_filter = ("company",)
    search_fields = ("company__key", "agent__handle")


@admin.register(models.Spending)
class SpendingPage(Shown):
    list_display = ("pk", link("company"), link("agent"), "month", "tokens", "microdollars", "runs", "unpriced_calls")
    list_select_related = ("company", "agent")
    list_filter = ("month", "company")
    search_fields = ("company__key", "agent__handle")


@admin.register(models.Reservation)
class ReservationPage(Shown):
    list_display = ("pk", link("run"), "month", "tokens", "microdollars")
    list_select_related = ("run",)
    list_filter = ("month",)
    search_fields = ("=run__id",)


@admin.register(models.RunOutput)
class RunOutputPage(Shown):
    list_display = ("pk", link("run"), "is_cut", "written_at")
    list_select_related = ("run",)
    list_filter = ("is_cut",)
    search_fields = ("=run__id",)
    long = ("text",)


@admin.register(models.TokenFactor)
class TokenFactorPage(Shown):
    list_display = ("provider", "model", "factor", "samples", "changed_at")
    list_filter = ("provider",)
    search_fields = ("model",)


@admin.register(models.CompanyProvider)
class CompanyProviderPage(Shown):
    list_display = ("name", link("company"), "protocol", "base_url", "model", "key_end", "key_set_at", "created_at")
    list_select_related = ("company",)
    list_filter = ("protocol", "company")
    search_fields = ("name", "base_url", "model")
    hidden = ("sealed_key",)
    actions = [action("remove", "Remove", lambda person, row: remove_provider(actor=person, provider=row))]


@admin.register(models.Breaker)
class BreakerPage(Shown):
    list_display = ("provider", "host", link("company"), "failures", "error_kind", "open_until", "probe_until")
    list_select_related = ("company",)
    list_filter = ("error_kind",)
    search_fields = ("provider", "host", "error")
    long = ("error",)


@admin.register(models.Pulse)
class PulsePage(Shown):
    list_display = ("name", "felt_at")
    list_filter = ("name",)
    search_fields = ("name",)
