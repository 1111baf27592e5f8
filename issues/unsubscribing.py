"""The word in an e-mail by which whoever got it has one kind of notices no more, without logging in. It is signed, so
nobody can make one, and it opens nothing else."""

from __future__ import annotations

from django.core import signing
from django.urls import reverse

from issues.models import Member
from issues.notice_kinds import NOTICE_KINDS, NoticeKind
from issues.refusals import Invalid
from trimus.addresses import address

_SALT = "trimus.unsubscribe"


def unsubscribe_url(member: Member, kind: str) -> str:
    """Where the member has that kind of notices no more."""
    return f"{address()}{reverse('unsubscribe', args=[signing.dumps([member.pk, kind], salt=_SALT)])}"


def read_word(word: str) -> tuple[Member, NoticeKind]:
    """Whose word it is, and for which kind. Invalid for one that Trimus did not sign, or of what is no more."""
    try:
        pk, name = signing.loads(word, salt=_SALT)
    except signing.BadSignature:
        raise _no_such_link() from None
    member = Member.objects.select_related("company", "user").filter(pk=pk).first()
    kind = next((one for one in NOTICE_KINDS if one.name == name), None)
    if member is None or kind is None:
        raise _no_such_link()
    return member, kind


def _no_such_link() -> Invalid:
    return Invalid("This link does not work any more.", "Log in and choose in your profile what is told by e-mail.")
