"""Addresses of the tracker's resources, below `/api/`."""

from __future__ import annotations

from django.urls import path

from issues.api import (
    approvals,
    blockers,
    comments,
    companies,
    files,
    history,
    issues,
    keys,
    mentions,
    projects,
    schema,
    watching,
)
from issues.rest import addresses  # noqa: F401 - registers `issue` and `id`

urlpatterns = [
    path("health", schema.Health.as_view()),
    path("schema", schema.schema, name="api-schema"),
    path("docs", schema.docs, name="api-docs"),
    path("companies", companies.Companies.as_view()),
    path("companies/<slug:key>", companies.CompanyItem.as_view()),
    path("companies/<slug:key>/pause", companies.CompanyPause.as_view()),
    path("companies/<slug:key>/resume", companies.CompanyResume.as_view()),
    path("members", companies.Members.as_view()),
    path("projects", projects.Projects.as_view()),
    path("projects/<id:id>", projects.ProjectItem.as_view()),
    path("projects/<id:id>/archive", projects.ProjectArchive.as_view()),
    path("labels", projects.Labels.as_view()),
    path("labels/<id:id>", projects.LabelItem.as_view()),
    path("search", issues.Search.as_view()),
    path("issues", issues.Issues.as_view()),
    path("issues/<issue:identifier>", issues.IssueItem.as_view()),
    path("issues/<issue:identifier>/children", issues.Children.as_view()),
    path("issues/<issue:identifier>/blockers", blockers.Blockers.as_view()),
    path("issues/<issue:identifier>/blockers/<issue:blocker>", blockers.BlockerItem.as_view()),
    path("issues/<issue:identifier>/comments", comments.Comments.as_view()),
    path("issues/<issue:identifier>/attachments", files.Attachments.as_view()),
    path("issues/<issue:identifier>/activity", history.IssueActivity.as_view()),
    path("issues/<issue:identifier>/findings", history.IssueFindings.as_view()),
    path("issues/<issue:identifier>/verdict", history.IssueVerdict.as_view()),
    path("issues/<issue:identifier>/watchers", watching.Watchers.as_view()),
    path("issues/<issue:identifier>/requests", approvals.IssueRequests.as_view()),
    path("issues/<issue:identifier>/questions", approvals.IssueQuestions.as_view()),
    path("activity", history.CompanyActivity.as_view()),
    path("mentions", mentions.MentionPreview.as_view()),
    path("comments/<id:id>", comments.CommentItem.as_view()),
    path("comments/<id:id>/pin", comments.CommentPin.as_view()),
    path("comments/<id:id>/reactions", comments.CommentReactions.as_view()),
    path("comments/<id:id>/reactions/<slug:reaction>", comments.CommentReactionItem.as_view()),
    path("attachments/<id:id>", files.AttachmentItem.as_view()),
    path("attachments/<id:id>/content", files.AttachmentContent.as_view()),
    path("approvals", approvals.Approvals.as_view()),
    path("approvals/<id:id>", approvals.ApprovalItem.as_view()),
    path("approvals/<id:id>/decision", approvals.ApprovalDecision.as_view()),
    path("keys", keys.Keys.as_view()),
    path("keys/<id:id>", keys.KeyItem.as_view()),
]
