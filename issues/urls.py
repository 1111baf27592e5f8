"""The board's addresses: first those without a company, then `/<company>/...`."""

from django.urls import URLPattern, URLResolver, include, path

import issues.converters  # noqa: F401 - makes the converters known
from issues.views import (
    activity,
    approvals,
    board,
    changes,
    comments,
    design,
    home,
    inbox,
    issue,
    material,
    navigation,
    reviews,
    session,
    writing,
)

Patterns = list[URLPattern | URLResolver]

issue_patterns: Patterns = [
    path("", issue.issue_page, name="issue"),
    path("older/", issue.older_entries, name="older-entries"),
    path("wakeups/", issue.wake_ledger, name="wake-ledger"),
    path("why/", issue.why, name="why"),
    path("edit/", writing.edit, name="edit-issue"),
    path("status/", changes.status, name="set-status"),
    path("assign/", changes.assign, name="assign"),
    path("priority/", changes.priority, name="set-priority"),
    path("label/", changes.label, name="label"),
    path("blockers/", changes.blockers, name="blockers"),
    path("parent/", changes.parent, name="set-parent"),
    path("verdict/", reviews.verdict, name="verdict"),
    path("reviewers/", reviews.reviewers, name="reviewers"),
    path("heartbeat/", changes.heartbeat, name="heartbeat"),
    path("stop/", changes.stop_run, name="stop-run"),
    path("move/", board.move, name="move"),
    path("attach/", material.attach, name="attach"),
    path("findings/<int:finding>/", material.finding, name="finding"),
    path("files/<int:file>/", material.workspace_file, name="file"),
    path("wakes/", comments.wakes, name="wakes"),
    path("comments/", comments.write, name="write-comment"),
    path("comments/<int:comment>/", comments.edit, name="edit-comment"),
    path("comments/<int:comment>/delete/", comments.delete, name="delete-comment"),
    path("comments/<int:comment>/pin/", comments.pin, name="pin-comment"),
]

company_patterns: Patterns = [
    path("", home.home, name="home"),
    path("pause/", home.pause, name="pause-company"),
    path("resume/", home.resume, name="resume-company"),
    path("changes/", home.changes, name="changes"),
    path("side/", navigation.side, name="side"),
    path("search/", navigation.search, name="search"),
    path("who/<str:handle>/", navigation.who, name="who"),
    path("board/", board.board, name="board"),
    path("mine/", board.mine, name="mine"),
    path("issues/", board.issue_list, name="issues"),
    path("issues/new/", writing.new_issue, name="new-issue"),
    path("issues/<identifier:identifier>/", include(issue_patterns)),
    path("attachments/<int:attachment>/<str:name>", material.attachment, name="attachment"),
    path("preview/", comments.preview, name="preview"),
    path("complete/", comments.complete, name="complete"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/<int:item>/open/", inbox.open_item, name="open-inbox-item"),
    path("inbox/<int:item>/archive/", inbox.archive, name="archive-inbox-item"),
    path("approvals/", approvals.approvals, name="approvals"),
    path("approvals/<int:approval>/", approvals.approval_page, name="approval"),
    path("approvals/<int:approval>/decide/", approvals.decide, name="decide"),
    path("activity/", activity.activity, name="activity"),
]

urlpatterns = [
    path("", home.companies, name="companies"),
    path("login/", session.log_in, name="log-in"),
    path("login/<str:token>/", session.log_in_by_link, name="log-in-by-link"),
    path("logout/", session.log_out, name="log-out"),
    path("theme/", session.theme, name="theme"),
    path("design/", design.design, name="design"),
    path("<company:company>/", include(company_patterns)),
]
