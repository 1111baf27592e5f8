"""Notices by e-mail: who wants which, and the rows that wait to be sent."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from issues.actors import Actor, Person
from issues.effects import service
from issues.models import Company, InboxItem, Member, Notice, NoticeState
from issues.notice_kinds import NOTICE_NAMES, NoticeKind, name_of_kind
from issues.policies import require_belonging
from issues.refusals import Forbidden, Invalid
from issues.unsubscribing import read_word

AT_ONCE = 100
"""Items looked at, and notices sent, in one go; the next tick goes on."""

OLDEST = datetime.timedelta(days=1)
"""What lay in an inbox for longer is not mailed: where e-mail is set up late, nobody gets the past."""

AFTER = datetime.timedelta(minutes=1)
"""Until an item is mailed. Whoever is on the board sees it there first, and what they have read or decided by then is
not mailed at all."""

FIRST_WAIT, LONGEST_WAIT = datetime.timedelta(minutes=1), datetime.timedelta(hours=1)
"""Until the next try, doubled with each."""

MOST_DOUBLED = 10

LONGEST = datetime.timedelta(days=3)
"""For so long a notice is tried."""

LEFT_BEHIND = datetime.timedelta(minutes=10)
"""Whoever began to send one and has not said so since is gone."""


@service
def choose_notices(*, actor: Actor, company: Company, email: str, names: Iterable[str]) -> Member:
    """Where the person's e-mail goes, and what is told by it of this company. Invalid for no address, or a name that is
    no kind of notice."""
    member = require_belonging(actor, company)
    if member is None or not isinstance(actor, Person):
        raise Forbidden("Only people are sent e-mail.")
    chosen = [name for name in NOTICE_NAMES if name in set(names)]
    if unknown := set(names) - set(NOTICE_NAMES):
        raise Invalid(f"“{min(unknown)}” is nothing that is told by e-mail.", field="kinds")
    email = email.strip()
    if email:
        try:
            validate_email(email)
        except ValidationError:
            raise Invalid("That is not an e-mail address.", field="email") from None
    elif chosen:
        raise Invalid("Say where the e-mail shall go.", "Or choose nothing.", field="email")
    user = actor.user
    user.email = email
    user.save(update_fields=["email"])
    member.mailed = chosen
    member.save(update_fields=["mailed"])
    return member


@service
def stop_notices(*, word: str) -> tuple[Member, NoticeKind]:
    """Have one kind of notices no more: whose, and which kind, is in the word of an e-mail. Done twice it does nothing
    more. Invalid for a word that Trimus did not sign."""
    member, kind = read_word(word)
    rows = Member.objects.select_for_update(of=("self",), no_key=True).select_related("company", "user")
    member = rows.get(pk=member.pk)
    if kind.name in member.mailed:
        member.mailed = [name for name in member.mailed if name != kind.name]
        member.save(update_fields=["mailed"])
    return member, kind


def note_new() -> None:
    """A notice for each new item of an inbox, also where it is not wanted: so each is looked at once. Two that do so at
    once make one of each."""
    now = timezone.now()
    items = InboxItem.objects.filter(created_at__gt=now - OLDEST, notice=None).select_related("member__user")
    Notice.objects.bulk_create(
        (_notice(item, now) for item in items.order_by("pk")[:AT_ONCE]),
        ignore_conflicts=True,
    )


def claim_due() -> list[Notice]:
    """The notices to send now, claimed by whoever called; those that nobody wants any more end."""
    now = timezone.now()
    with transaction.atomic():
        _return_left_behind(now)
        due = Notice.objects.select_for_update(of=("self",), skip_locked=True).filter(
            state=NoticeState.PENDING, due_at__lte=now
        )
        related = ("item__company", "item__issue__company", "item__member__user")
        notices = list(due.select_related(*related).order_by("due_at", "pk")[:AT_ONCE])
        wanted = [notice for notice in notices if _is_wanted(notice.item, now)]
        _end(set(notices) - set(wanted), NoticeState.SKIPPED, now)
        claimed = Notice.objects.filter(pk__in=[notice.pk for notice in wanted], state=NoticeState.PENDING)
        claimed.update(state=NoticeState.SENDING, claimed_at=now)
    return wanted


def note_sent(notices: Sequence[Notice]) -> None:
    _end(notices, NoticeState.SENT, timezone.now())


def note_refused(notice: Notice, error: str) -> None:
    """The mail server will never take this one."""
    _mine([notice]).update(state=NoticeState.FAILED, ended_at=timezone.now(), error=error[:300])


def put_off(notice: Notice, error: str) -> None:
    """The mail server did not take it now: it waits for its next try, and is given up after three days."""
    now = timezone.now()
    if notice.created_at < now - LONGEST:
        note_refused(notice, f"Given up after {LONGEST.days} days. {error}")
        return
    wait = min(FIRST_WAIT * 2 ** min(notice.tries, MOST_DOUBLED), LONGEST_WAIT)
    _mine([notice]).update(
        state=NoticeState.PENDING, tries=notice.tries + 1, due_at=now + wait, claimed_at=None, error=error[:300]
    )


def hold_all(error: str) -> None:
    """The mail server is away: nothing else that is due is tried before the first wait is over."""
    later = timezone.now() + FIRST_WAIT
    Notice.objects.filter(state=NoticeState.PENDING, due_at__lt=later).update(due_at=later, error=error[:300])


def _notice(item: InboxItem, now: datetime.datetime) -> Notice:
    if not _is_wanted(item, now):
        return Notice(item=item, state=NoticeState.SKIPPED, due_at=now, ended_at=now)
    return Notice(item=item, due_at=item.created_at + AFTER)


def _is_wanted(item: InboxItem, now: datetime.datetime) -> bool:
    """Whether the person has an address, wants this kind told there, and has not seen it yet."""
    member = item.member
    is_seen = item.read_at is not None or item.archived_at is not None
    is_snoozed = item.snoozed_until is not None and item.snoozed_until > now
    has_address = bool(member.user.email) and member.user.is_active and member.is_present
    return has_address and not is_seen and not is_snoozed and name_of_kind(item.kind) in member.mailed


def _return_left_behind(now: datetime.datetime) -> None:
    left = Notice.objects.filter(state=NoticeState.SENDING, claimed_at__lt=now - LEFT_BEHIND)
    left.update(state=NoticeState.PENDING, due_at=now, claimed_at=None)


def _end(notices: Iterable[Notice], state: NoticeState, now: datetime.datetime) -> None:
    rows = Notice.objects.filter(pk__in=[notice.pk for notice in notices])
    rows.update(state=state, ended_at=now, error="")


def _mine(notices: Sequence[Notice]) -> QuerySet[Notice]:
    """Those that are still claimed as these were."""
    return Notice.objects.filter(pk__in=[notice.pk for notice in notices], state=NoticeState.SENDING)
