"""A notice as an e-mail: plain text, a link to what it speaks of, nothing that is not said in the inbox."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from django.core.mail import EmailMessage
from django.urls import reverse

from issues.addresses import address_of_item
from issues.models import Notice
from issues.notice_kinds import name_of_kind
from issues.secrets import mask_secrets
from issues.unsubscribing import unsubscribe_url
from trimus.addresses import address

SUBJECT_CHARACTERS = 150


def write_letter(notice: Notice, known_secrets: Collection[str] = ()) -> EmailMessage:
    """The e-mail of a notice. Its id is always the same: should a crash send it twice, mail programs show it once.
    `known_secrets` are values that are masked, beside what has the form of a secret."""
    item = notice.item
    company, member = item.company, item.member
    root = address()
    host = urlsplit(root).hostname or "localhost"
    profile = f"{root}{reverse('profile', args=[company.slug])}#notices"
    unsubscribe = unsubscribe_url(member, name_of_kind(item.kind))
    said = _masked(item.text, known_secrets)
    about = [f"{item.issue.identifier} {_masked(item.issue.title, known_secrets)}"] if item.issue is not None else []
    lines = [
        said,
        "",
        *about,
        f"{root}{address_of_item(company, item)}",
        "",
        "-- ",
        f"Told to @{member.handle} of {company.name}. What is told by e-mail you choose in your profile:",
        profile,
        "No more e-mail of this kind:",
        unsubscribe,
    ]
    headers = {
        "Message-ID": f"<notice-{notice.pk}@{host}>",
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    if item.issue_id is not None:  # mail programs put what is about one issue together
        headers["References"] = f"<issue-{item.issue_id}@{host}>"
    subject = said if len(said) <= SUBJECT_CHARACTERS else said[: SUBJECT_CHARACTERS - 1] + "…"
    return EmailMessage(f"[{company.key}] {subject}", "\n".join(lines), to=[member.user.email], headers=headers)


def _masked(text: str, known_secrets: Collection[str]) -> str:
    """The text on one line, without what has the form of a secret: e-mail goes through many hands."""
    return " ".join(mask_secrets(text, known_secrets).split())
