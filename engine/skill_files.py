"""An agent's skills as files, in the form that command-line programs look for."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from agents.models import Agent, Skill

NAME_CHARACTERS = 64
"""As the form allows."""


def skill_files(agent: Agent) -> Mapping[str, bytes]:
    """A folder a skill, by the path of the file in it; names that come out alike are numbered."""
    files: dict[str, bytes] = {}
    for skill in Skill.objects.for_agent(agent.pk):
        plain = _plain(skill.name)
        name, number = plain, 1
        while f"{name}/SKILL.md" in files:
            number += 1
            name = f"{plain[: NAME_CHARACTERS - 4]}-{number}"
        # JSON is YAML, and nothing in a name or a description can end the front matter.
        front = f"name: {name}\ndescription: {json.dumps(skill.description or skill.name, ensure_ascii=False)}"
        files[f"{name}/SKILL.md"] = f"---\n{front}\n---\n\n{skill.body}\n".encode("utf-8", "replace")
    return files


def _plain(name: str) -> str:
    """Small letters, digits and single hyphens."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:NAME_CHARACTERS].strip("-") or "skill"
