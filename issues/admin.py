"""The tracker's tables on the admin site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group

from issues import models
from issues.actors import Person
from issues.administration import Edited, Shown, action, link
from issues.models import ApprovalStatus, Priority, Status
from issues.services.approvals import decide_approval
from issues.services.changes import change_issue
from issues.services.companies import SETTINGS, change_company, pause_company, remove_member, resume_company
from issues.services.keys import revoke_key
from issues.services.projects import archive_project, edit_project

admin.site.unregister(Group)  # what people may do is their role in a company

if TYPE_CHECKING:
    _UserPage = UserAdmin[models.User]
else:
    _UserPage = UserAdmin  # generic in its stubs only


@admin.register(models.User)
class UserPage(_UserPage):
    """Accounts belong to the installation: the framework's own forms hash the password and keep the rest."""

    list_display = ("username", "name", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username", "name", "email")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("name", "email", "time_zone")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:  # noqa: ARG002
        """Nobody: what somebody wrote keeps its author. Close the account instead."""
        return False


@admin.register(models.LoginLink)
class LoginLinkPage(Shown):
    list_display = ("pk", link("user"), "created_at", "expires_at", "used_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    list_filter = ("created_at",)
    hidden = ("token_hash",)


@admin.register(models.Company)
class CompanyPage(Edited):
    list_display = ("key", "name", "status", "last_issue_number", "created_at")
    list_filter = ("status",)
    search_fields = ("key", "name")
    editable = ("name", "mission", "norms", "time_zone", *SETTINGS)
    related = (
        ("issues.member", "company", "members"),
        ("agents.agent", "company", "agents"),
        ("issues.issue", "company", "issues"),
        ("issues.project", "company", "projects"),
        ("issues.label", "company", "labels"),
        ("agents.companyprovider", "company", "providers"),
        ("agents.skill", "company", "skills"),
        ("agents.routine", "company", "routines"),
        ("agents.run", "company", "runs"),
        ("agents.wakeup", "company", "wakeups"),
        ("issues.approval", "company", "approvals"),
        ("issues.apikey", "company", "keys"),
        ("issues.webhook", "company", "webhooks"),
        ("issues.hook", "company", "hooks"),
        ("agents.budget", "company", "budgets"),
        ("agents.spending", "company", "spending"),
        ("issues.activity", "company", "activity"),
    )
    actions = [
        action("pause", "Pause", lambda person, row: pause_company(actor=person, company=row)),
        action("resume", "Resume", lambda person, row: resume_company(actor=person, company=row)),
    ]

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        return change_company(actor=person, company=row, **changes)


@admin.register(models.Member)
class MemberPage(Shown):
    list_display = ("handle", link("user"), link("company"), "role", "joined_at", "removed_at")
    list_select_related = ("user", "company")
    list_filter = ("role", "company")
    search_fields = ("handle", "user__username", "user__name")
    related = (
        ("issues.issue", "assignee_member", "issues"),
        ("issues.comment", "author_member", "comments"),
        ("issues.inboxitem", "member", "inbox"),
        ("issues.activity", "member", "activity"),
    )
    actions = [action("remove", "Remove", lambda person, row: remove_member(actor=person, member=row))]


@admin.register(models.Handle)
class HandlePage(Shown):
    list_display = ("key", link("company"))
    list_select_related = ("company",)
    list_filter = ("company",)
    search_fields = ("key",)


@admin.register(models.Project)
class ProjectPage(Edited):
    list_display = ("name", link("company"), "archived_at", "created_at")
    list_select_related = ("company",)
    list_filter = ("company",)
    search_fields = ("name", "description")
    editable = ("name", "description", "rules")
    related = (("issues.issue", "project", "issues"),)
    actions = [action("archive", "Archive", lambda person, row: archive_project(actor=person, project=row))]

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        return edit_project(actor=person, project=row, **changes)


@admin.register(models.Label)
class LabelPage(Shown):
    list_display = ("name", link("company"), "colour")
    list_select_related = ("company",)
    list_filter = ("company",)
    search_fields = ("name",)
    related = (("issues.issue", "labels", "issues"),)


@admin.register(models.SavedView)
class SavedViewPage(Shown):
    list_display = ("name", link("company"), link("member"), "page", "is_shared", "created_at")
    list_select_related = ("company", "member__user")
    list_filter = ("company", "page", "is_shared")
    search_fields = ("name", "query")


@admin.register(models.Issue)
class IssuePage(Edited):
    list_display = (
        "identifier",
        "title",
        "status",
        "priority",
        link("assignee_agent"),
        link("assignee_member"),
        link("project"),
        "updated_at",
    )
    list_select_related = ("company", "assignee_agent", "assignee_member__user", "project")
    list_filter = ("status", "priority", "company")
    search_fields = ("title", "=number")
    long = ("description",)
    editable = ("title", "description", "status", "priority", "due_date")
    related = (
        ("issues.comment", "issue", "comments"),
        ("agents.run", "issue", "runs"),
        ("agents.wakeup", "issue", "wakeups"),
        ("issues.approval", "issue", "approvals"),
        ("issues.issue", "parent", "children"),
        ("issues.blocker", "issue", "blockers"),
        ("issues.blocker", "blocker", "what it blocks"),
        ("issues.reviewer", "issue", "reviewers"),
        ("issues.watch", "issue", "watches"),
        ("issues.attachment", "issue", "attachments"),
        ("issues.workspacefile", "issue", "files"),
        ("issues.finding", "issue", "findings"),
        ("issues.activity", "issue", "activity"),
    )

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        as_read = {"status": Status, "priority": Priority}
        fields = {name: as_read[name](value) if name in as_read else value for name, value in changes.items()}
        return change_issue(actor=person, issue=row, **fields)


@admin.register(models.Blocker)
class BlockerPage(Shown):
    list_display = ("pk", link("issue"), link("blocker"), "created_at")
    list_select_related = ("issue__company", "blocker__company")
    list_filter = ("created_at",)
    search_fields = ("issue__title", "blocker__title")


@admin.register(models.Reviewer)
class ReviewerPage(Shown):
    list_display = ("pk", link("issue"), link("member"), link("agent"), "verdict", "decided_at")
    list_select_related = ("issue__company", "member__user", "agent")
    list_filter = ("verdict",)
    search_fields = ("issue__title",)


@admin.register(models.Watch)
class WatchPage(Shown):
    list_display = ("pk", link("issue"), link("member"), "created_at")
    list_select_related = ("issue__company", "member__user")
    list_filter = ("created_at",)
    search_fields = ("issue__title", "member__handle")


@admin.register(models.Comment)
class CommentPage(Shown):
    list_display = ("pk", link("issue"), link("author_member"), link("author_agent"), "created_at", "pinned_at")
    list_select_related = ("issue__company", "author_member__user", "author_agent")
    list_filter = ("created_at", ("pinned_at", admin.EmptyFieldListFilter), ("deleted_at", admin.EmptyFieldListFilter))
    search_fields = ("body", "issue__title")
    long = ("body",)
    related = (
        ("agents.wakeup", "comment", "wakeups"),
        ("issues.commentversion", "comment", "versions"),
        ("issues.reaction", "comment", "reactions"),
    )


@admin.register(models.CommentVersion)
class CommentVersionPage(Shown):
    list_display = ("pk", link("comment"), "written_at")
    list_select_related = ("comment",)
    list_filter = ("written_at",)
    search_fields = ("body",)
    long = ("body",)


@admin.register(models.Reaction)
class ReactionPage(Shown):
    list_display = ("pk", "kind", link("member"), link("comment"), "created_at")
    list_select_related = ("member__user", "comment")
    list_filter = ("kind",)
    search_fields = ("member__handle",)


@admin.register(models.Approval)
class ApprovalPage(Shown):
    list_display = ("title", "kind", "status", link("issue"), link("requested_by_agent"), "created_at", "decided_at")
    list_select_related = ("issue__company", "requested_by_agent")
    list_filter = ("status", "kind", "company")
    search_fields = ("title", "explanation", "issue__title")
    related = (("agents.wakeup", "approval", "wakeups"),)
    actions = [
        action("approve", "Approve", lambda person, row: _decide(person, row, ApprovalStatus.APPROVED)),
        action("refuse", "Refuse", lambda person, row: _decide(person, row, ApprovalStatus.REFUSED)),
    ]


def _decide(person: Person, approval: models.Approval, status: ApprovalStatus) -> object:
    # Bound to what the list was made of: a payload changed since then is refused.
    return decide_approval(actor=person, approval=approval, status=status, shown_hash=approval.payload_hash)


@admin.register(models.Attachment)
class AttachmentPage(Shown):
    list_display = ("name", link("issue"), link("uploaded_by"), "media_type", "extraction", "created_at")
    list_select_related = ("issue__company", "uploaded_by__user")
    list_filter = ("extraction", "media_type")
    search_fields = ("name", "issue__title")
    long = ("text",)


@admin.register(models.Blob)
class BlobPage(Shown):
    list_display = ("sha256", "size", "created_at", "kept_at")
    list_filter = ("created_at",)
    search_fields = ("sha256",)
    ordering = ("-created_at",)
    related = (("issues.attachment", "blob", "attachments"), ("issues.fileversion", "blob", "versions of files"))


@admin.register(models.FileUse)
class FileUsePage(Shown):
    list_display = (link("company"), "bytes")
    list_select_related = ("company",)
    list_filter = ("company__status",)
    search_fields = ("company__name", "company__key")


@admin.register(models.WorkspaceFile)
class WorkspaceFilePage(Shown):
    list_display = ("path", link("issue"), "updated_at", "is_made")
    list_select_related = ("issue__company",)
    list_filter = ("updated_at", "is_made")
    search_fields = ("path", "issue__title")
    related = (("issues.fileversion", "file", "versions"),)


@admin.register(models.FileVersion)
class FileVersionPage(Shown):
    list_display = ("pk", link("file"), "number", link("agent"), link("run"), "created_at")
    list_select_related = ("file", "agent", "run")
    list_filter = ("created_at",)
    search_fields = ("file__path",)


@admin.register(models.Finding)
class FindingPage(Shown):
    list_display = ("pk", "title", link("issue"), link("agent"), link("run"), "created_at")
    list_select_related = ("issue__company", "agent", "run")
    list_filter = ("created_at",)
    search_fields = ("title", "body", "issue__title")
    long = ("body",)


@admin.register(models.InboxItem)
class InboxItemPage(Shown):
    list_display = ("text", "kind", link("member"), link("issue"), "created_at", "read_at", "snoozed_until")
    list_select_related = ("member__user", "issue__company")
    list_filter = ("kind", "company", ("archived_at", admin.EmptyFieldListFilter))
    search_fields = ("text", "member__handle")


@admin.register(models.Notice)
class NoticePage(Shown):
    list_display = ("pk", link("item"), "state", "tries", "due_at", "ended_at", "error")
    list_select_related = ("item",)
    list_filter = ("state",)
    search_fields = ("item__text", "error")


@admin.register(models.Webhook)
class WebhookPage(Shown):
    """Its address may hold a secret of the receiver's, so the list shows the host alone."""

    list_display = ("__str__", link("company"), "enabled", "failures", "failing_since", "held_until", "created_at")
    list_select_related = ("company",)
    list_filter = ("enabled", "company")
    search_fields = ("url",)
    hidden = ("sealed_secret", "sealed_old_secret", "turn")
    related = (("issues.delivery", "webhook", "deliveries"),)


@admin.register(models.Delivery)
class DeliveryPage(Shown):
    list_display = ("uid", "kind", link("webhook"), "state", "tries", "status_code", "due_at", "ended_at", "error")
    list_select_related = ("webhook",)
    list_filter = ("state", "kind")
    search_fields = ("uid", "error")
    long = ("body",)


@admin.register(models.Hook)
class HookPage(Shown):
    list_display = (
        "name",
        link("company"),
        "enabled",
        "opened",
        "last_used_at",
        "per_hour",
        "created_at",
        "removed_at",
    )
    list_select_related = ("company",)
    list_filter = ("enabled", "company")
    search_fields = ("name", "title")
    long = ("description",)
    hidden = ("token_hash",)
    related = (("issues.issue", "created_by_hook", "issues"), ("issues.hookcall", "hook", "calls"))


@admin.register(models.HookCall)
class HookCallPage(Shown):
    list_display = ("pk", link("hook"), "identifier", "made_at")
    list_select_related = ("hook",)
    list_filter = ("made_at",)
    search_fields = ("identifier",)
    hidden = ("key_hash",)


@admin.register(models.PolicyRule)
class PolicyRulePage(Shown):
    list_display = ("permission", "grant", link("company"), "role", link("agent"), link("made_by"), "made_at")
    list_select_related = ("company", "agent", "made_by__user")
    list_filter = ("grant", "company")
    search_fields = ("permission", "role", "agent__handle")


@admin.register(models.ApiKey)
class ApiKeyPage(Shown):
    list_display = (
        "__str__",
        "name",
        "scope",
        link("user"),
        link("agent"),
        link("run"),
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_select_related = ("user", "agent", "run")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "scope", "company")
    search_fields = ("prefix", "name", "user__username", "agent__handle")
    hidden = ("key_hash",)
    actions = [action("revoke", "Revoke", lambda person, row: revoke_key(actor=person, key=row))]


@admin.register(models.KeptAnswer)
class KeptAnswerPage(Shown):
    list_display = ("key", "caller", "status", "made_at")
    list_filter = ("made_at",)
    search_fields = ("key", "caller")
    long = ("body",)


@admin.register(models.ImportedIssue)
class ImportedIssuePage(Shown):
    """Where issues came from."""

    list_display = ("pk", "source", link("company"), link("issue"), "imported_at")
    list_select_related = ("company", "issue__company")
    list_filter = ("company", "imported_at")
    search_fields = ("source",)


@admin.register(models.AuditSeal)
class AuditSealPage(Shown):
    """The chain over the audit. `manage.py verify_audit` walks it."""

    list_display = ("pk", link("company"), "number", "lines", "last_line", "head", "sealed_at")
    list_select_related = ("company",)
    list_filter = ("company", "sealed_at")
    search_fields = ("head",)
    long = hidden = ("marks",)


@admin.register(models.Activity)
class ActivityPage(Shown):
    """The audit. A trigger of the database refuses to change it, whoever asks."""

    list_display = ("pk", "kind", "actor_kind", link("member"), link("agent"), link("run"), link("issue"), "created_at")
    list_select_related = ("member__user", "agent", "run", "issue__company")
    list_filter = ("actor_kind", "kind", "company", "created_at")
    search_fields = ("kind", "issue__title")
