"""/create-issue: break work down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.text.frontmatter import read_front_matter
from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from engine.verbs.issue_keys import RIGHTS, allowed_keys, read_keys, without
from issues.rights import Right

if TYPE_CHECKING:
    from agents.models import Agent
    from engine.verbs.scene import Scene
    from issues.models import Issue, Member, Project, Status


def resolve(scene: Scene, action: Action) -> Request:
    from issues.services.issues import TITLE_CHARACTERS
    from issues.texts import check_line

    front = read_front_matter(action.body or "", RIGHTS)
    remarks: list[str] = []
    return Request(
        {
            "title": check_line(action.args, "title", limit=TITLE_CHARACTERS),
            "description": front.text,
            "keys": read_keys(scene, front.values, remarks),
            "remarks": remarks,
        }
    )


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import labels_named
    from issues.models import Priority
    from issues.services.issues import create_issue

    remarks: list[str] = list(request.values["remarks"])
    parent = _parent(scene, request.values["keys"], remarks)
    keys = allowed_keys(scene, request.values["keys"], parent or scene.issue, remarks)
    status, closed = _statuses(keys)
    issue = create_issue(
        actor=scene.actor,
        company=scene.company,
        title=request.values["title"],
        description=request.values["description"],
        parent=parent,
        priority=Priority.from_slug(keys.get("priority", "none")),
        status=status,
        project=_project(scene, keys, parent),
        labels=labels_named(scene, keys.get("labels", ())),
        assignee=_assignee(scene, keys),
    )
    scene.made.setdefault(issue.title, []).append(issue)
    if closed is not None:
        _close(scene, issue, closed, remarks)
    if "blocked-by" in keys:
        scene.when_all_exist(lambda: _link(scene, issue, keys["blocked-by"]))
    whom = f" for @{issue.assignee_agent.handle}" if issue.assignee_agent else ""
    return Effect(
        f"{issue.identifier} is created{whom}.", after={"issue": issue.pk}, issue=issue, remarks=tuple(remarks)
    )


def _parent(scene: Scene, keys: Mapping[str, Any], remarks: list[str]) -> Issue | None:
    """The parent named, else the issue at hand. Where the agent may not add to that one, the issue at hand, too."""
    from engine.verbs.resolve import issue_by_id
    from issues.policies import require
    from issues.refusals import Forbidden, NeedsApproval

    if "parent" not in keys:
        return scene.issue
    if keys["parent"] is None:
        return None
    parent = issue_by_id(scene, keys["parent"])
    try:
        require(scene.actor, Right.CREATE_ISSUE, parent)
    except NeedsApproval:
        return parent  # as the issue as a whole does
    except Forbidden as refusal:
        remarks.append(without("parent", refusal))
        return scene.issue
    return parent


def _statuses(keys: Mapping[str, Any]) -> tuple[Status, Status | None]:
    """The status to open the issue in, and the closed one to bring it to then."""
    from issues.models import Status

    wanted = Status(keys.get("status", Status.TODO))
    return (Status.TODO, wanted) if wanted.is_closed else (wanted, None)


def _close(scene: Scene, issue: Issue, status: Status, remarks: list[str]) -> None:
    """Close what was just opened, under the conditions of every closing."""
    from issues.effects import savepoint
    from issues.refusals import Refusal
    from issues.services.issues import set_status

    try:
        with savepoint():
            set_status(actor=scene.actor, issue=issue, status=status)
    except Refusal as refusal:
        remarks.append(without("status", refusal))


def _project(scene: Scene, keys: Mapping[str, Any], parent: Issue | None) -> Project | None:
    """The project named, else the parent's: sub-tasks stay with their work."""
    if "project" in keys:
        return scene.company.projects.filter(pk=keys["project"]).first()
    return parent.project if parent is not None else None


def _assignee(scene: Scene, keys: Mapping[str, Any]) -> Agent | Member | None:
    """The one named; else nobody where an active triage agent is woken, else the agent itself. A person leaves an issue
    to nobody, as on the board."""
    from engine.verbs.resolve import referred
    from issues.actors import Person

    wanted = referred(scene, keys.get("assignee"))
    if wanted is not None or isinstance(scene.actor, Person):
        return wanted
    agent: Agent = scene.actor.agent
    return None if scene.company.agents.active().routing().exclude(pk=agent.pk).exists() else agent


def _link(scene: Scene, issue: Issue, words: str) -> str:
    from engine.verbs.resolve import find_issues
    from issues.refusals import Refusal
    from issues.services.blockers import add_blockers

    try:
        add_blockers(actor=scene.actor, issue=issue, blockers=find_issues(scene, words))
    except Refusal as refusal:
        return without("blocked-by", refusal)
    return ""


VERB = Verb(
    name="create-issue",
    right=Right.CREATE_ISSUE,
    usage="/create-issue <title>",
    summary="open a child issue; an optional fenced block is its description",
    example=(
        "/create-issue Write the migration\n```\nassignee: @ada\npriority: high\nblocked-by: ACME-7\n---\n"
        "Move the old table over in batches.\n```"
    ),
    details=(
        "The block may begin with lines `assignee:`, `priority:`, `labels:`, `project:`, `blocked-by:` (also titles of"
        " issues created in this reply), `parent:` (`none` for top level), `status:`, up to a line `---`."
    ),
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.OPTIONAL,
    core=True,
    cap=10,
    makes_issues=True,
    resolve=resolve,
    carry_out=carry_out,
)
