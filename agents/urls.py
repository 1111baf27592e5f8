"""The board's addresses of agents and runs."""

from django.urls import URLPattern, URLResolver, include, path

import issues.converters  # noqa: F401 - makes the converters known
from agents.views import agents, runs

Patterns = list[URLPattern | URLResolver]

agent_patterns: Patterns = [
    path("", agents.agent_page, name="agent"),
    path("edit/", agents.edit, name="edit-agent"),
    path("pause/", agents.pause, name="pause-agent"),
    path("resume/", agents.resume, name="resume-agent"),
    path("terminate/", agents.terminate, name="terminate-agent"),
    path("run/", agents.run, name="run-agent"),
]

company_patterns: Patterns = [
    path("agents/", agents.agents, name="agents"),
    path("agents/hire/", agents.hire, name="hire"),
    path("agents/<str:handle>/", include(agent_patterns)),
    path("runs/", runs.runs, name="runs"),
    path("runs/<int:run>/", runs.run_page, name="run"),
    path("runs/<int:run>/cancel/", runs.cancel, name="cancel-run"),
    path("runs/<int:run>/again/", runs.again, name="run-again"),
]

urlpatterns = [path("<company:company>/", include(company_patterns))]
