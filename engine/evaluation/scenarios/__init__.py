"""The frozen set. A scenario is never changed, only replaced under another name: figures of two times must compare."""

from __future__ import annotations

from engine.evaluation.scenario import Scenario
from engine.evaluation.scenarios.deciding import DECIDING
from engine.evaluation.scenarios.handing import HANDING
from engine.evaluation.scenarios.resisting import RESISTING
from engine.evaluation.scenarios.returning import RETURNING
from engine.evaluation.scenarios.working import WORKING

SCENARIOS: tuple[Scenario, ...] = (*WORKING, *HANDING, *DECIDING, *RETURNING, *RESISTING)
