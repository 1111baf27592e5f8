"""/create-issue: break work down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from engine.text.frontmatter import read_front_matter
from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene
    from issues.models import Issue

KEYS = ("assignee", "priority", "labels", "project", "blocked-by", "parent", "status")


def resolve(scene: Scene, action: Action) -> Request:
    """Read title and body. A key that cannot be read becomes a remark, and the issue is made without it."""
    from issues.texts import check_line

    front = read_front_matter(action.body or "", KEYS)
    values: dict[str, Any] = {
        "title": check_line(action.args, "title", limit=300),
        "description": front.text,
        "parent": scene.issue.pk,
        "remarks": [],
    }
    for key, text in front.values.items():
        if text:
            _read_key(scene, key, text, values)
    return Request(values)


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id, referred
    from issues.models import Priority, Status
    from issues.services.issues import create_issue

    values = request.values
    parent = issue_by_id(scene, values["parent"]) if values["parent"] is not None else None
    remarks = list(values["remarks"])
    issue = create_issue(
        actor=scene.actor,
        company=scene.company,
        title=values["title"],
        description=values["description"],
        parent=parent,
        priority=Priority.from_slug(values.get("priority", "none")),
        status=Status(values.get("status", Status.TODO)),
        project=_project(scene, values, parent),
        labels=list(scene.company.labels.filter(pk__in=values.get("labels", []))),
        assignee=_assignee(scene, referred(scene, values.get("assignee")), remarks),
    )
    scene.made.setdefault(issue.title, issue)
    if values.get("blocked-by"):
        scene.when_all_exist(lambda: _link(scene, issue, values["blocked-by"]))
    words = f"{issue.identifier} is created" + (f" for @{issue.assignee_agent.handle}" if issue.assignee_agent else "")
    return Effect(" ".join([words + ".", *remarks]), after={"issue": issue.pk}, issue=issue)


def _read_key(scene: Scene, key: str, text: str, values: dict[str, Any]) -> None:
    from issues.refusals import Refusal

    readers: Mapping[str, Callable[[Scene, str], Any]] = {
        "assignee": _read_assignee,
        "priority": _read_priority,
        "status": _read_status,
        "labels": _read_labels,
        "project": _read_project,
        "parent": _read_parent,
        "blocked-by": lambda _, words: words,  # may name issues that do not exist yet
    }
    try:
        values[key] = readers[key](scene, text)
    except Refusal as refusal:
        values["remarks"].append(f"Made without {key}: {refusal}")


def _read_assignee(scene: Scene, text: str) -> dict[str, int] | None:
    from engine.verbs.resolve import find_somebody, refer

    return refer(find_somebody(scene, text))


def _read_priority(_scene: Scene, text: str) -> str:
    from engine.verbs.resolve import read_priority

    return read_priority(text).slug


def _read_status(_scene: Scene, text: str) -> str:
    from engine.verbs.resolve import read_status

    return read_status(text).value


def _read_labels(scene: Scene, text: str) -> list[int]:
    from engine.verbs.resolve import find_labels, read_names
    from issues.refusals import Invalid

    found, missing = find_labels(scene, read_names(text))
    if missing:
        raise Invalid(f"there is no label “{missing[0]}”.", field="labels")
    return [label.pk for label in found]


def _read_project(scene: Scene, text: str) -> int:
    from engine.verbs.resolve import nearest
    from issues.refusals import Invalid

    projects = {project.name.lower(): project for project in scene.company.projects.filter(archived_at=None)}
    found = projects.get(text.lower())
    if found is None:
        hint = nearest(text, [project.name for project in projects.values()])
        raise Invalid(f"there is no project “{text}”.", hint, field="project")
    return found.pk


def _read_parent(scene: Scene, text: str) -> int | None:
    from engine.verbs.resolve import find_issue, plain_word

    return None if plain_word(text) == "none" else find_issue(scene, text).pk


def _project(scene: Scene, values: Mapping[str, Any], parent: Issue | None) -> Any:
    """The project named, else the parent's: sub-tasks stay with their work."""
    if "project" in values:
        return scene.company.projects.filter(pk=values["project"]).first()
    return parent.project if parent is not None else None


def _assignee(scene: Scene, wanted: Any, remarks: list[str]) -> Any:
    """The assignee named if the agent may assign; else nobody where a triage agent is woken, else the agent itself."""
    from issues.policies import Right, require
    from issues.refusals import Forbidden

    if wanted is not None:
        try:
            require(scene.actor, Right.ASSIGN, scene.issue)
        except Forbidden as refusal:
            if wanted.pk == scene.actor.agent.pk:
                return wanted
            remarks.append(f"Made without assignee: {refusal}")
        else:
            return wanted
    triage = scene.company.agents.active().routing().exclude(pk=scene.actor.agent.pk)
    return None if triage.exists() else scene.actor.agent


def _link(scene: Scene, issue: Issue, words: str) -> str:
    from engine.verbs.resolve import find_issues
    from issues.refusals import Refusal
    from issues.services.blockers import add_blockers

    try:
        add_blockers(actor=scene.actor, issue=issue, blockers=find_issues(scene, words))
    except Refusal as refusal:
        return f"Made without blocked-by: {refusal}"
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
