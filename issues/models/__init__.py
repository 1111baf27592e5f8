"""The tracker's tables: one module a noun, all importable from here."""

from issues.models.activity import Activity, ActorKind
from issues.models.approval import Approval, ApprovalKind, ApprovalStatus
from issues.models.attachment import Attachment, Blob, Extraction, FileUse
from issues.models.comment import Comment, CommentVersion
from issues.models.company import Company, CompanyStatus, Handle, Member, Role
from issues.models.finding import Finding
from issues.models.hook import Hook, HookCall
from issues.models.imported import ImportedIssue, was_brought
from issues.models.inbox import WANTING, InboxItem, InboxKind
from issues.models.issue import Blocker, Issue, Priority, Reviewer, Status, Verdict
from issues.models.kept_answer import KeptAnswer
from issues.models.key import ApiKey, KeyScope
from issues.models.notice import Notice, NoticeState
from issues.models.policy import Grant, PolicyRule
from issues.models.project import Label, Project
from issues.models.reaction import Reaction, ReactionKind
from issues.models.saved_view import SavedView
from issues.models.seal import AuditSeal
from issues.models.user import LoginLink, User
from issues.models.watch import Watch
from issues.models.webhook import Delivery, DeliveryState, Webhook, WebhookKind
from issues.models.workspace import FileVersion, WorkspaceFile

__all__ = [
    "WANTING",
    "Activity",
    "ActorKind",
    "ApiKey",
    "Approval",
    "ApprovalKind",
    "ApprovalStatus",
    "Attachment",
    "AuditSeal",
    "Blob",
    "Blocker",
    "Comment",
    "CommentVersion",
    "Company",
    "CompanyStatus",
    "Delivery",
    "DeliveryState",
    "Extraction",
    "FileUse",
    "FileVersion",
    "Finding",
    "Grant",
    "Handle",
    "Hook",
    "HookCall",
    "ImportedIssue",
    "InboxItem",
    "InboxKind",
    "Issue",
    "KeptAnswer",
    "KeyScope",
    "Label",
    "LoginLink",
    "Member",
    "Notice",
    "NoticeState",
    "PolicyRule",
    "Priority",
    "Project",
    "Reaction",
    "ReactionKind",
    "Reviewer",
    "Role",
    "SavedView",
    "Status",
    "User",
    "Verdict",
    "Watch",
    "Webhook",
    "WebhookKind",
    "WorkspaceFile",
    "was_brought",
]
