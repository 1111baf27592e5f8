"""The board's addresses of agents and runs."""

from django.urls import URLPattern, URLResolver, include, path

import issues.converters  # noqa: F401 - makes the converters known
from agents.views import (
    agents,
    budgets,
    comparing,
    costs,
    export,
    guide,
    instructions,
    notebook,
    policy,
    providers,
    routines,
    run_page,
    runs,
    skills,
    start,
)
from agents.views.verbs import verbs

Patterns = list[URLPattern | URLResolver]

agent_patterns: Patterns = [
    path("", agents.agent_page, name="agent"),
    path("edit/", agents.edit, name="edit-agent"),
    path("instructions/", instructions.instructions, name="instructions"),
    path("pause/", agents.pause, name="pause-agent"),
    path("resume/", agents.resume, name="resume-agent"),
    path("terminate/", agents.terminate, name="terminate-agent"),
    path("run/", agents.run, name="run-agent"),
    path("notebook/", notebook.notebook, name="notebook"),
    path("notebook/notes/<int:note>/", notebook.change_note, name="change-note"),
    path("notebook/observations/<int:observation>/", notebook.change_observation, name="change-observation"),
]

company_patterns: Patterns = [
    path("agents/", agents.agents, name="agents"),
    path("agents/hire/", agents.hire, name="hire"),
    path("agents/<handle:handle>/", include(agent_patterns)),
    path("runs/", runs.runs, name="runs"),
    path("runs/<int:run>/", run_page.run_page, name="run"),
    path("runs/<int:run>/output/", run_page.run_output, name="run-output"),
    path("runs/<int:run>/compare/", comparing.compare_runs, name="compare-runs"),
    path("runs/<int:run>/cancel/", runs.cancel, name="cancel-run"),
    path("runs/<int:run>/again/", runs.again, name="run-again"),
    path("runs/<int:run>/dry-run/", runs.dry_run, name="dry-run"),
    path("skills/", skills.skills, name="skills"),
    path("skills/new/", skills.new_skill, name="new-skill"),
    path("skills/<int:skill>/", skills.skill_page, name="skill"),
    path("skills/<int:skill>/edit/", skills.edit, name="edit-skill"),
    path("skills/<int:skill>/switch/", skills.switch, name="switch-skill"),
    path("routines/", routines.routines, name="routines"),
    path("routines/new/", routines.new_routine, name="new-routine"),
    path("routines/<int:routine>/", routines.routine_page, name="routine"),
    path("routines/<int:routine>/edit/", routines.edit, name="edit-routine"),
    path("routines/<int:routine>/switch/", routines.switch, name="switch-routine"),
    path("routines/<int:routine>/fire/", routines.fire, name="fire-routine"),
    path("settings/policy/", policy.policy, name="policy"),
    path("settings/policy/caps/", policy.cap, name="set-cap"),
    path("settings/policy/presets/<handle:handle>/", policy.preset, name="set-preset"),
    path("settings/models/", providers.providers, name="providers"),
    path("settings/models/add/", providers.add, name="add-provider"),
    path("settings/models/<str:provider>/edit/", providers.edit, name="edit-provider"),
    path("settings/models/<str:provider>/remove/", providers.remove, name="remove-provider"),
    path("settings/models/<str:provider>/try/", providers.try_it, name="try-provider"),
    path("settings/models/<str:provider>/reset/", providers.reset, name="reset-provider"),
    path("settings/export/", export.export, name="export-company"),
    path("settings/budgets/", budgets.budgets, name="budgets"),
    path("costs/", costs.costs, name="costs"),
    path("costs/table.csv", costs.costs_table, name="costs-table"),
    path("start/", start.start, name="start"),
    path("start/agent/", start.hire, name="hire-first"),
    path("start/issue/", start.open_issue, name="open-first"),
]

urlpatterns = [
    path("help/verbs/", verbs, name="verbs"),
    path("skill.md", guide.skill_page, name="skill-for-hosts"),
    path("<company:company>/", include(company_patterns)),
]
