"""Every tool there is: those beside the verbs, and one for each verb."""

from __future__ import annotations

from collections.abc import Mapping

from engine.mcp.issue_tools import ISSUE_TOOLS
from engine.mcp.tools import Tool
from engine.mcp.verb_tools import tool_of
from engine.verbs.registry import VERBS

TOOLS: tuple[Tool, ...] = (*ISSUE_TOOLS, *map(tool_of, VERBS))

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}

if len(BY_NAME) != len(TOOLS):
    raise ValueError("two tools share a name")
