"""What can wake an agent. The issues know the causes; the wakeups they become are the agents' business."""

from __future__ import annotations

from django.db import models


class WakeupSource(models.TextChoices):
    MENTION = "mention", "Mentioned"
    MANUAL = "manual", "Asked to run"
    BLOCKER_RESOLVED = "blocker_resolved", "What it waited for ended"
    CHILD_CLOSED = "child_closed", "Its child issues closed"
    ASSIGNED = "assigned", "Assigned"
    CONTINUE = "continue", "Continued"
    COMMENTED = "commented", "Commented"
    APPROVAL_DECIDED = "approval_decided", "Approval decided"
    REVIEW_REQUESTED = "review_requested", "Review requested"
    CREATED = "created", "Opened unassigned"
    ROUTINE = "routine", "Routine"
    SCHEDULE = "schedule", "Schedule"


SENT_BACK = "sent back"
"""Subject of the `assigned` wakeup of one whose work a reviewer sent back: it is no visit that agents made up."""
