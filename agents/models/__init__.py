"""The tables of the workers and their work: one module a noun, all importable from here."""

from agents.models.agent import PROGRAMS, Adapter, Agent, AgentStatus, PolicyPreset, Tier
from agents.models.checkpoint import Checkpoint
from agents.models.dry_run import DryRun, DryRunState
from agents.models.instructions import InstructionsVersion
from agents.models.notebook import Note, Observation
from agents.models.output import RunOutput
from agents.models.provider import Breaker, CompanyProvider, ModelTier
from agents.models.pulse import Pulse
from agents.models.routine import Routine, RoutineFire
from agents.models.run import ActionOutcome, ModelCall, Run, RunAction, RunState
from agents.models.skill import Skill
from agents.models.spending import Budget, Reservation, Spending
from agents.models.token_factor import TokenFactor
from agents.models.wakeup import Wakeup, WakeupState
from issues.sources import WakeupSource

__all__ = [
    "PROGRAMS",
    "ActionOutcome",
    "Adapter",
    "Agent",
    "AgentStatus",
    "Breaker",
    "Budget",
    "Checkpoint",
    "CompanyProvider",
    "DryRun",
    "DryRunState",
    "InstructionsVersion",
    "ModelCall",
    "ModelTier",
    "Note",
    "Observation",
    "PolicyPreset",
    "Pulse",
    "Reservation",
    "Routine",
    "RoutineFire",
    "Run",
    "RunAction",
    "RunOutput",
    "RunState",
    "Skill",
    "Spending",
    "Tier",
    "TokenFactor",
    "Wakeup",
    "WakeupSource",
    "WakeupState",
]
