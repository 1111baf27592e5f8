"""The board's own tags and filters: icons, avatars, times, texts, figures."""

from __future__ import annotations

import datetime
from typing import Any

from django import template
from django.conf import settings
from django.http import HttpRequest
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from issues.citations import show_standing
from issues.markdown import Place, render_markdown
from issues.models import Approval, Company, Issue, Member, Priority, Status
from issues.names import Names, Somebody
from issues.payloads import payload_text
from issues.themes import theme_of
from issues.who import who_of

register = template.Library()

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@register.simple_tag
def icon(name: str, label: str = "", extra: str = "") -> SafeString:
    """A drawing of `parts/icons.html`. With a label it speaks for itself, without one it is decoration."""
    if label:
        return format_html(
            '<svg class="icon {}" role="img" aria-label="{}"><use href="#i-{}"/></svg>', extra, label, name
        )
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"/></svg>', extra, name)


@register.simple_tag
def status_icon(status: str, *, labelled: bool = True) -> SafeString:
    return icon(f"status-{status}", Status(status).label if labelled else "", status)


@register.simple_tag
def priority_icon(priority: int, *, labelled: bool = True) -> SafeString:
    known = Priority(priority)
    label = f"{known.label} priority" if known is not Priority.NONE else "No priority"
    return icon(f"priority-{known.slug}", label if labelled else "", known.slug)


@register.simple_tag
def avatar(somebody: Somebody | None, extra: str = "", *, named: bool = False) -> SafeString:
    """A person's or agent's picture. `named` where no name stands beside it."""
    if somebody is None:
        label = SafeString(' role="img" aria-label="Nobody" title="Nobody"') if named else ""
        return format_html('<span class="avatar nobody {}"{}></span>', extra, label)
    kind = "agent" if somebody.is_agent else "person"
    label = SafeString(' aria-hidden="true"')
    if named:
        words = f"{somebody.name} ({kind})"
        label = format_html(' role="img" aria-label="{}" title="{}"', words, words)
    return format_html(
        '<span class="avatar {} hue-{} {}"{}>{}</span>', kind, somebody.hue, extra, label, somebody.initials
    )


@register.simple_tag
def swatch(colour: str) -> SafeString:
    """A label's dot. Colours are data, and styles in attributes are refused by the policy: so it is a drawing."""
    return format_html(
        '<svg class="dot" viewBox="0 0 8 8" aria-hidden="true"><circle cx="4" cy="4" r="4" fill="{}"/></svg>', colour
    )


@register.filter
def ago(moment: datetime.datetime | None) -> SafeString:
    """How long ago, with the exact time on hover; live.js keeps it true."""
    if moment is None:
        return SafeString("")
    local = timezone.localtime(moment)
    exact = formats.date_format(local, "j F Y, H:i") + f" {local:%Z}"
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        moment.isoformat(timespec="seconds"),
        exact,
        _how_long_ago(moment),
    )


@register.filter
def clock(moment: datetime.datetime) -> SafeString:
    """The time of day to the second, with the date on hover."""
    local = timezone.localtime(moment)
    exact = formats.date_format(local, "j F Y, H:i:s") + f" {local:%Z}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="milliseconds"),
        exact,
        formats.date_format(local, "H:i:s"),
    )


@register.filter
def markdown(text: str, place: Place) -> SafeString:
    return render_markdown(text, place)


@register.filter
def standing(rendered: SafeString, names: Names) -> SafeString:
    """A rendered text in which each identifier shows how its issue stands."""
    return show_standing(rendered, names.by_identifier)


@register.simple_tag(takes_context=True)
def payload_of(context: template.Context, approval: Approval) -> str:
    """All that an approval would carry out, with names where the page knows them."""
    return payload_text(approval, context.get("names"))


@register.filter
def money(microdollars: int | None) -> str:
    """`$0.0123`; "unpriced" where no price is known."""
    if microdollars is None:
        return "unpriced"
    dollars = microdollars / 1_000_000
    return f"${dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"


@register.filter
def count(number: int | None) -> str:
    """`12,345`."""
    return f"{number or 0:,}"


@register.filter
def seconds(value: float | None) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s" if whole % MINUTE else f"{whole // MINUTE} min"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"


@register.filter
def key_in(issue: Issue, company: Company) -> str:
    """The issue's identifier, without asking the database for the company that the page knows."""
    return f"{company.key}-{issue.number}"


@register.filter
def plain_value(value: Any) -> str:
    """A value of a change, as people would write it."""
    if value is None or value in ("", [], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain_value(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain_value(one)}" for key, one in value.items())
    return str(value)


@register.simple_tag(takes_context=True)
def theme(context: template.Context) -> str:
    """The theme that the reader chose: light, dark or system."""
    request: HttpRequest | None = context.get("request")
    return theme_of(request) if request is not None else "system"


@register.simple_tag
def csrf_cookie() -> str:
    """The name of the cookie that holds the token of forms."""
    return settings.CSRF_COOKIE_NAME


@register.simple_tag
def who_cookie(member: Member) -> str:
    """The cookie that is there while this person is logged in."""
    return who_of(member.user_id)


def _how_long_ago(moment: datetime.datetime) -> str:
    now = timezone.now()
    gone = (now - moment).total_seconds()
    if gone < 45:
        return "just now"
    if gone < HOUR:
        return f"{max(1, round(gone / MINUTE))} min ago"
    if gone < DAY:
        return f"{round(gone / HOUR)} h ago"
    if gone < 7 * DAY:
        return f"{round(gone / DAY)} d ago"
    local = timezone.localtime(moment)
    return formats.date_format(local, "j M" if local.year == timezone.localtime(now).year else "j M Y")
