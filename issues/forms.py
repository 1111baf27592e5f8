"""What a browser sends, read into values. Whether they may be used is for the services to say."""

from __future__ import annotations

import datetime
from typing import Any

from django import forms

from issues.models import Priority, Status
from issues.refusals import Invalid


class IssueForm(forms.Form):
    """A new issue."""

    title = forms.CharField(max_length=300)
    description = forms.CharField(required=False, strip=False)
    status = forms.ChoiceField(choices=Status.choices, initial=Status.TODO, required=False)
    priority = forms.ChoiceField(
        choices=[(priority.slug, priority.label) for priority in Priority], initial="none", required=False
    )
    assignee = forms.CharField(required=False)
    project = forms.CharField(required=False)
    labels = forms.MultipleChoiceField(required=False)
    parent = forms.CharField(required=False)
    blockers = forms.CharField(required=False)
    due_date = forms.DateField(required=False)

    def __init__(self, *args: Any, labels: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["labels"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - declared above
        field.choices = labels


class LogInForm(forms.Form):
    username = forms.CharField(max_length=150)
    password = forms.CharField(strip=False)


def read_date(value: str) -> datetime.date | None:
    """A date as a date field sends it; None for an empty one."""
    if not value:
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise Invalid(f"“{value}” is not a date.", "Write it like 2026-12-24.", field="due_date") from None
