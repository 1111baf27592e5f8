"""Addresses of the agents' resources, below `/api/`."""

from __future__ import annotations

from django.urls import path

from agents.api import actions, agents, checkouts, me, notebook, policy, providers, runs, skills, wakeups
from issues.rest import addresses  # noqa: F401 - registers `issue` and `id`

urlpatterns = [
    path("me", me.Me.as_view()),
    path("agents", agents.Agents.as_view()),
    path("agents/me", agents.AgentMe.as_view()),
    path("agents/<id:id>", agents.AgentItem.as_view()),
    path("agents/<id:id>/pause", agents.AgentPause.as_view()),
    path("agents/<id:id>/resume", agents.AgentResume.as_view()),
    path("agents/<id:id>/heartbeat", agents.AgentHeartbeat.as_view()),
    path("agents/<id:id>/notes", notebook.AgentNotes.as_view()),
    path("agents/<id:id>/observations", notebook.AgentObservations.as_view()),
    path("notes/<id:id>", notebook.NoteItem.as_view()),
    path("observations/<id:id>", notebook.ObservationItem.as_view()),
    path("policy", policy.PolicyTable.as_view()),
    path("policy/rules", policy.PolicyRules.as_view()),
    path("policy/rules/<id:id>", policy.PolicyRuleItem.as_view()),
    path("policy/caps", policy.PolicyCaps.as_view()),
    path("issues/<issue:identifier>/actions", actions.IssueActions.as_view()),
    path("companies/<slug:key>/models", providers.CompanyModels.as_view()),
    path("companies/<slug:key>/providers", providers.CompanyProviders.as_view()),
    path("companies/<slug:key>/providers/<slug:name>", providers.CompanyProviderItem.as_view()),
    path("companies/<slug:key>/providers/<slug:name>/try", providers.CompanyProviderTry.as_view()),
    path("companies/<slug:key>/providers/<slug:name>/reset", providers.CompanyProviderReset.as_view()),
    path("issues/<issue:identifier>/checkout", checkouts.IssueCheckout.as_view()),
    path("issues/<issue:identifier>/release", checkouts.IssueRelease.as_view()),
    path("issues/<issue:identifier>/heartbeat", checkouts.IssueHeartbeat.as_view()),
    path("issues/<issue:identifier>/runs", runs.IssueRuns.as_view()),
    path("issues/<issue:identifier>/wakeups", wakeups.IssueWakeups.as_view()),
    path("runs", runs.Runs.as_view()),
    path("runs/<id:id>", runs.RunItem.as_view()),
    path("runs/<id:id>/whole", runs.WholeRun.as_view()),
    path("runs/<id:id>/prompt", runs.RunPrompt.as_view()),
    path("runs/<id:id>/cancel", runs.RunCancel.as_view()),
    path("runs/<id:id>/retry", runs.RunRetry.as_view()),
    path("runs/<id:id>/dry-runs", runs.RunDryRuns.as_view()),
    path("wakeups", wakeups.Wakeups.as_view()),
    path("wakeups/<id:id>", wakeups.WakeupItem.as_view()),
    path("skills", skills.Skills.as_view()),
    path("skills/<id:id>", skills.SkillItem.as_view()),
]
