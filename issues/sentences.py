"""Lines of activity in words. A sentence begins after its actor's name: "set the priority to High"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from issues.models import Activity, Priority, ReactionKind, Status, Verdict
from issues.names import Names, Somebody, Wanted

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a line says, and the drawing that goes before it."""

    text: SafeString
    icon: str


def named_in(lines: Iterable[Activity]) -> Wanted:
    """What the lines refer to, so that the names can be read in one go."""
    wanted = Wanted()
    for line in lines:
        data = line.data
        if line.kind == "issue.blockers":
            wanted |= Wanted(issues=frozenset((*data["added"], *data["removed"])))
        elif line.kind == "issue.parent":
            wanted |= Wanted(issues=frozenset(pk for pk in (data["from"], data["to"]) if pk))
        elif line.kind == "issue.status" and "blocker" in data:
            wanted |= Wanted(issues=frozenset((data["blocker"],)))
        elif line.kind == "issue.created" and "parent" in data:
            wanted |= Wanted(issues=frozenset((data["parent"],)))
        elif line.kind == "skill.used":
            wanted |= Wanted(skills=frozenset((data["skill"],)))
        elif line.kind == "file.written":
            wanted |= Wanted(files=frozenset((data["file"],)))
    return wanted


def tell(line: Activity, names: Names, root: str) -> Sentence:
    """The line in words. `root` is the company's address (`/acme/`). A kind that has no words yet is told by its
    name: nothing is left out."""
    teller = _TELLERS.get(line.kind)
    if teller is None:
        return Sentence(format_html("did <code>{}</code>", line.kind), "activity")
    return teller(_Told(line.data, names, root))


@dataclass(frozen=True, slots=True)
class _Told:
    data: Data
    names: Names
    root: str

    def issue(self, pk: int | None) -> SafeString:
        named = self.names.issues.get(pk) if pk is not None else None
        if named is None:
            return SafeString("an issue that was deleted")
        return format_html(
            '<a class="link" href="{}issues/{}/">{}</a>', self.root, named.identifier, named.identifier
        )  # fmt: skip

    def issues(self, ids: Iterable[int]) -> SafeString:
        return _list([self.issue(pk) for pk in ids])

    def whom(self, reference: Any) -> SafeString:
        somebody = self.names.refer(reference)
        return _name(somebody) if somebody else SafeString("nobody")

    def agent(self) -> SafeString:
        agent = self.names.agents.get(self.data.get("agent", 0))
        if agent is None:
            return SafeString("an agent")
        return format_html('<a class="link" href="{}agents/{}/">{}</a>', self.root, agent.handle, agent.name)

    def member(self) -> SafeString:
        member = self.names.members.get(self.data.get("member", 0))
        return _name(member) if member else SafeString("a member")

    def run(self) -> SafeString:
        run = self.data.get("run", 0)
        return format_html('<a class="link" href="{}runs/{}/">run {}</a>', self.root, run, run)


def _status(told: _Told) -> Sentence:
    before, after = Status(told.data["from"]), Status(told.data["to"])
    icon = f"status-{after.value}"
    text = format_html("set the status from {} to <strong>{}</strong>", before.label, after.label)
    if "blocker" in told.data and after is not Status.BLOCKED:
        ended = "was cancelled" if told.data.get("blocker_status") == Status.CANCELLED else "no longer blocks it"
        text = format_html(
            "set the status to <strong>{}</strong>: {} {}", after.label, told.issue(told.data["blocker"]), ended
        )
    elif "blocker" in told.data:
        text = format_html(
            "set the status to <strong>{}</strong>: it waits for {}", after.label, told.issue(told.data["blocker"])
        )
    elif "sent_back" in told.data:
        text = format_html("{}, sent back {} times", text, told.data["sent_back"])
    return Sentence(text, icon)


def _assigned(told: _Told) -> Sentence:
    if not told.data["to"]:
        return Sentence(format_html("took the issue from {}", told.whom(told.data["from"])), "person")
    text = format_html("assigned {}", told.whom(told.data["to"]))
    return Sentence(text, "agent" if "agent" in told.data["to"] else "person")


def _priority(told: _Told) -> Sentence:
    label = Priority.from_slug(told.data["to"]).label
    return Sentence(format_html("set the priority to <strong>{}</strong>", label), f"priority-{told.data['to']}")


def _labels(told: _Told) -> Sentence:
    parts = [
        format_html("{} {}", word, _list([_strong(name) for name in told.data[key]]))
        for word, key in (("added", "added"), ("removed", "removed"))
        if told.data[key]
    ]
    return Sentence(format_html("{} as label", _list(parts)), "label")


def _blockers(told: _Told) -> Sentence:
    parts = []
    if told.data["added"]:
        parts.append(format_html("let it wait for {}", told.issues(told.data["added"])))
    if told.data["removed"]:
        parts.append(format_html("let it no longer wait for {}", told.issues(told.data["removed"])))
    return Sentence(_list(parts), "status-blocked")


def _parent(told: _Told) -> Sentence:
    if not told.data["to"]:
        return Sentence(format_html("took it out of {}", told.issue(told.data["from"])), "children")
    return Sentence(format_html("put it under {}", told.issue(told.data["to"])), "children")


def _created(told: _Told) -> Sentence:
    if told.data.get("parent"):
        return Sentence(format_html("opened the issue under {}", told.issue(told.data["parent"])), "plus")
    if told.data.get("hook"):
        return Sentence(format_html("opened the issue for the hook {}", _strong(told.data["hook"])), "plus")
    return Sentence(SafeString("opened the issue"), "plus")


def _edited(told: _Told) -> Sentence:
    words = {"due_date": "due date", "responsible": "responsible person"}
    fields = [format_html("{}", words.get(field, field)) for field in told.data["fields"]]
    return Sentence(format_html("changed the {}", _list(fields)), "edit")


def _reviewed(told: _Told) -> Sentence:
    accepted = told.data["verdict"] == Verdict.ACCEPT
    return Sentence(SafeString("accepted the work" if accepted else "sent the work back"), "eye")


def _approval_decided(told: _Told) -> Sentence:
    words = {
        "approved": "approved",
        "refused": "refused",
        "sent_back": "sent back",
        "answered": "answered",
        "cancelled": "cancelled",
    }
    text = format_html(
        '{} <a class="link" href="{}approvals/{}/">what was asked</a>',
        words.get(told.data["status"], told.data["status"]), told.root, told.data["approval"],
    )  # fmt: skip
    return Sentence(text, "approval")


def _approval_requested(told: _Told) -> Sentence:
    what = "a question" if told.data.get("about") == "question" else "for approval"
    text = format_html('asked <a class="link" href="{}approvals/{}/">{}</a>', told.root, told.data["approval"], what)
    return Sentence(text, "question" if told.data.get("about") == "question" else "approval")


def _file(told: _Told) -> Sentence:
    path = told.names.files.get(told.data["file"], "a file that was deleted")
    return Sentence(format_html("wrote <code>{}</code>, version {}", path, told.data["version"]), "file")


def _skill(told: _Told) -> Sentence:
    name = told.names.skills.get(told.data["skill"])
    return Sentence(format_html("used the skill {}", _strong(name)) if name else SafeString("used a skill"), "skill")


def _action_refused(told: _Told) -> Sentence:
    times = "" if told.data["count"] == 1 else f" {told.data['count']} times"
    word = {"denied": "was not allowed", "failed": "could not be done"}[told.data["outcome"]]
    text = format_html("tried <code>/{}</code>{}, which {}: {}", told.data["verb"], times, word, told.run())
    return Sentence(text, "alert")


def _policy(told: _Told) -> Sentence:
    words = {"allow": "allow", "approval": "ask the board for", "deny": "deny", None: "leave to the preset"}
    scope = told.agent() if "agent" in told.data else told.data.get("role", "all agents")
    text = format_html(
        "changed the policy: {} <strong>{}</strong>, for {}", words[told.data["to"]], told.data["permission"], scope
    )
    return Sentence(text, "edit")


def _cap(told: _Told) -> Sentence:
    often = "as often as the verb says" if told.data["to"] is None else f"at most {told.data['to']} times"
    return Sentence(format_html("lets one run use <code>/{}</code> {}", told.data["verb"], often), "edit")


def _refused(told: _Told) -> Sentence:
    return Sentence(format_html("{} was not woken: {}", told.agent(), told.data.get("reason", "")), "alert")


def _guard(told: _Told) -> Sentence:
    return Sentence(format_html("stopped the work here: {}", told.data.get("reason", "")), "stop")


def _budget(words: str) -> Callable[[_Told], Sentence]:
    """`words` have a place for whose budget it is: the company's, or one agent's."""

    def say(told: _Told) -> Sentence:
        whose = format_html("the budget of {}", told.agent()) if told.data.get("agent") else "the company's budget"
        return Sentence(format_html(words, whose), "cost")

    return say


def _reacted(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(
        format_html("{} “{}” of a comment", words, ReactionKind(told.data["reaction"]).label), "react"
    )


def _provider(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html(words, _strong(told.data["provider"])), "agent")


def _hook(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html(words, _strong(told.data["name"])), "link")


def _hook_switched(told: _Told) -> Sentence:
    return _hook("turned {} the hook {{}}".format("on" if told.data["on"] else "off"))(told)


def _webhook(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html(words, _strong(told.data["host"])), "link")


def _webhook_switched(told: _Told) -> Sentence:
    return _webhook("turned {} the webhook to {{}}".format("on" if told.data["on"] else "off"))(told)


def _run(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html("{} {}", words, told.run()), "run")


def _plain(words: str, icon: str) -> Callable[[_Told], Sentence]:
    return lambda _told: Sentence(SafeString(words), icon)


def _of_agent(words: str, icon: str = "agent") -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html("{} {}", words, told.agent()), icon)


def _of_member(words: str) -> Callable[[_Told], Sentence]:
    return lambda told: Sentence(format_html("{} {}", words, told.member()), "people")


def _strong(text: str) -> SafeString:
    return format_html("<strong>{}</strong>", text)


def _name(somebody: Somebody) -> SafeString:
    return format_html('<strong title="@{}">{}</strong>', somebody.handle, somebody.name)


def _list(parts: list[SafeString]) -> SafeString:
    """One, two and three."""
    if len(parts) < 2:
        return parts[0] if parts else SafeString("")
    return format_html("{} and {}", format_html_join(", ", "{}", ((part,) for part in parts[:-1])), parts[-1])


_TELLERS: dict[str, Callable[[_Told], Sentence]] = {
    "issue.created": _created,
    "issue.edited": _edited,
    "issue.status": _status,
    "issue.assigned": _assigned,
    "issue.priority": _priority,
    "issue.labels": _labels,
    "issue.blockers": _blockers,
    "issue.parent": _parent,
    "issue.moved": _plain("moved the card", "board"),
    "approval.reopened": _plain("let what was asked wait for an answer again", "approval"),
    "issue.deleted": _plain("deleted an issue", "trash"),
    "issue.reviewers": _plain("changed the reviewers", "people"),
    "issue.reviewed": _reviewed,
    "comment.written": _plain("commented", "comment"),
    "comment.edited": _plain("edited a comment", "edit"),
    "comment.deleted": _plain("deleted a comment", "trash"),
    "comment.reacted": _reacted("said"),
    "comment.unreacted": _reacted("took back"),
    "comment.pinned": _plain("pinned a comment", "pin"),
    "comment.unpinned": _plain("unpinned a comment", "pin"),
    "approval.requested": _approval_requested,
    "approval.decided": _approval_decided,
    "finding.recorded": _plain("recorded a finding", "finding"),
    "file.attached": _plain("attached a file", "file"),
    "file.written": _file,
    "skill.used": _skill,
    "notebook.noted": _plain("wrote into its notebook", "edit"),
    "notebook.forgot": _plain("took a note out of its notebook", "trash"),
    "notebook.remembered": _plain("kept an observation", "finding"),
    "note.edited": _of_agent("changed a note of", "edit"),
    "note.deleted": _of_agent("deleted a note of", "trash"),
    "observation.edited": _of_agent("changed an observation of", "edit"),
    "observation.deleted": _of_agent("deleted an observation of", "trash"),
    "help.asked": _plain("asked how a verb works", "question"),
    "action.refused": _action_refused,
    "run.started": _run("began"),
    "run.ended": _run("ended"),
    "run.dry_run_asked": _run("asked for a dry re-run of"),
    "run.dry_run_ended": _run("ended the dry re-run of"),
    "run.passed": _plain("passed: nothing to do now", "run"),
    "wakeup.asked": _of_agent("asked for a run of", "run"),
    "wakeup.refused": _refused,
    "guard.stopped": _guard,
    "agent.hired": _of_agent("hired"),
    "agent.edited": _of_agent("changed", "edit"),
    "agent.manager": _of_agent("moved in the reporting line", "people"),
    "agent.paused": _of_agent("paused", "pause"),
    "agent.resumed": _of_agent("resumed", "play"),
    "agent.terminated": _of_agent("terminated", "stop"),
    "company.founded": _plain("founded the company", "home"),
    "company.changed": _plain("changed the company's settings", "edit"),
    "company.imported": _plain("made the company from an export", "home"),
    "issue.imported": _plain("brought issues from elsewhere", "file"),
    "company.exported": _plain("took the company's data along", "file"),
    "company.paused": _plain("paused the company", "pause"),
    "company.resumed": _plain("resumed the company", "play"),
    "member.added": _of_member("added"),
    "member.removed": _of_member("removed"),
    "member.role": _of_member("changed the role of"),
    "project.created": _plain("made a project", "project"),
    "project.edited": _plain("changed a project", "project"),
    "project.archived": _plain("archived a project", "project"),
    "project.restored": _plain("brought a project back", "project"),
    "policy.changed": _policy,
    "policy.cap": _cap,
    "budget.set": _budget("set {}"),
    "budget.warned": _budget("warned that {} is nearly used up"),
    "budget.stopped": _budget("holds new starts, since {} is used up"),
    "provider.added": _provider("added the provider {}"),
    "provider.edited": _provider("changed the provider {}"),
    "provider.removed": _provider("removed the provider {} and its key"),
    "provider.reset": _provider("let the provider {} be asked again"),
    "models.changed": _plain("changed which models answer", "agent"),
    "webhook.added": _webhook("added a webhook to {}"),
    "webhook.edited": _webhook("changed the webhook to {}"),
    "webhook.switched": _webhook_switched,
    "webhook.rotated": _webhook("made a new secret for the webhook to {}"),
    "webhook.removed": _webhook("removed the webhook to {}"),
    "webhook.tested": _webhook("tried the webhook to {}"),
    "hook.added": _hook("added the hook {}"),
    "hook.edited": _hook("changed the hook {}"),
    "hook.switched": _hook_switched,
    "hook.rotated": _hook("made a new address for the hook {}"),
    "hook.removed": _hook("removed the hook {}"),
    "label.created": _plain("made a label", "label"),
    "label.edited": _plain("changed a label", "label"),
    "label.deleted": _plain("deleted a label", "label"),
    "skill.created": _plain("added a skill", "skill"),
    "skill.edited": _plain("changed a skill", "skill"),
    "routine.created": _plain("made a routine", "clock"),
    "routine.edited": _plain("changed a routine", "clock"),
    "routine.switched": _plain("switched a routine", "clock"),
    "routine.fired": _plain("fired a routine", "clock"),
    "view.saved": _plain("kept a view", "eye"),
    "view.changed": _plain("changed a view", "eye"),
    "view.deleted": _plain("deleted a view", "trash"),
    "key.created": _plain("made an API key", "link"),
    "key.revoked": _plain("revoked an API key", "link"),
}

KINDS = tuple(_TELLERS)
"""Every kind of line that there are words for."""
