"""`manage.py import_issues`: issues from GitHub, Linear or Jira."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from issues.actors import Person
from issues.models import Company, Member
from issues.refusals import Refusal
from issues.services.inbox import first_owner
from issues.services.issue_imports import Plan, import_issues, plan_import
from issues.trackers.draft import Reading, Unreadable
from issues.trackers.github import read_github
from issues.trackers.tables import read_table

MOST_SHOWN = 20
"""Of bad lines, and of names."""


class Command(BaseCommand):
    help = "Bring issues from GitHub (JSON), Linear or Jira (CSV). Each comes once, and nobody is woken or told."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the JSON or CSV file")
        parser.add_argument("--company", metavar="PREFIX", required=True, help="the company's key, like ACME")
        parser.add_argument("--preview", action="store_true", help="say what would come, and change nothing")
        parser.add_argument("--skip-bad", action="store_true", help="leave out lines that cannot be issues here")
        parser.add_argument(
            "--site",
            metavar="NAME",
            default="",
            help="of several Linears or Jiras, which one the file is of",
        )
        parser.add_argument("--as", dest="user", metavar="USER", help="who brings them; else the company's first owner")

    def handle(
        self, *, file: str, company: str, preview: bool, skip_bad: bool, site: str, user: str | None, **_: Any
    ) -> None:
        found = Company.objects.filter(key=company.upper()).first()
        if found is None:
            raise CommandError(f"There is no company {company.upper()}.")
        reading = _read(file, site)
        member = _member(found, user) if user else first_owner(found)
        actor = Person(member.user, member)
        try:
            plan = plan_import(actor=actor, company=found, drafts=reading.drafts)
            bad = sorted([*reading.bad, *plan.bad])
            self._tell(reading, plan, bad)
            if preview:
                self.stdout.write("Nothing was changed.")
                return
            if bad and not skip_bad:
                raise CommandError("Nothing was changed. Mend those lines, or leave them out with --skip-bad.")
            total = len(plan.new)
            brought = import_issues(
                actor=actor,
                company=found,
                drafts=plan.new,
                progress=lambda count: self.stdout.write(f"{min(count, total):,} of {total:,} …"),
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        except KeyboardInterrupt as error:
            raise CommandError("Stopped. What came is whole; the same command goes on.") from error
        made = f"{_counted(brought.issues, 'issue')} and {_counted(brought.comments, 'comment')}"
        self.stdout.write(f"{found.key}: {made} came. Nobody was woken.")

    def _tell(self, reading: Reading, plan: Plan, bad: list[tuple[int, str]]) -> None:
        for line, why in bad[:MOST_SHOWN]:
            self._say(f"Line {line}: {why}")
        if bad[MOST_SHOWN:]:
            self._say(f"… and {len(bad) - MOST_SHOWN:,} more lines that cannot be issues here.")
        for remark in reading.remarks:
            self._say(f"- {remark}")
        if plan.labels:
            self._say(f"- Labels to be made: {_listed(plan.labels)}.")
        if plan.nobody:
            self._say(f"- Nobody here is {_listed(plan.nobody)}: what is theirs comes without an assignee.")
        if plan.orphans:
            self._say(
                f"- Without a parent, as theirs is neither here nor in the file: {_counted(plan.orphans, 'issue')}."
            )
        comments = sum(len(draft.comments) for draft in plan.new)
        known = f"; {plan.known:,} came before" if plan.known else ""
        self._say(
            f"{reading.tracker}: {_counted(len(plan.new), 'new issue')} with {_counted(comments, 'comment')}{known}."
        )

    def _say(self, line: str) -> None:
        """What the file says may hold what a terminal would obey."""
        self.stdout.write("".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in line))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN:,} more" if names[MOST_SHOWN:] else ""
    return f"{', '.join(names[:MOST_SHOWN])}{more}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{pluralize(count)}"


def _read(file: str, site: str) -> Reading:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        return read_github(text) if text.lstrip()[:1] in ("[", "{") else read_table(text, site=site.lower())
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8: save it so.") from error
    except Unreadable as error:
        raise CommandError(f"{file}: {error}") from error


def _member(company: Company, username: str) -> Member:
    member = company.members.present().filter(user__username__iexact=username).select_related("user").first()
    if member is None:
        raise CommandError(f"{username} is no member of {company.key}.")
    return member
