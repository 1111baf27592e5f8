"""Companies."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from issues.actors import Person, Worker
from issues.keysets import OLDEST_FIRST
from issues.models import Company, CompanyStatus, Member
from issues.models.company import THINKING_LEVELS
from issues.refusals import Forbidden
from issues.rest.paging import Page
from issues.rest.scope import scope_of
from issues.rest.shapes import Form, Shape, StampField, WrittenField
from issues.rest.views import PageQuery, Resource, operation
from issues.services.companies import change_company, found_company, pause_company, resume_company

TAG = "Companies"


class CompanyRowShape(Shape):
    """A company."""

    key = serializers.CharField(help_text="`ACME`: the first part of its issues' identifiers.")
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=CompanyStatus.choices)
    created_at = StampField()


class CompanyShape(CompanyRowShape):
    """A company with its settings."""

    mission = serializers.CharField()
    norms = serializers.CharField()
    time_zone = serializers.CharField()
    hop_limit = serializers.IntegerField()
    continue_limit = serializers.IntegerField()
    runs_per_hour = serializers.IntegerField()
    max_concurrent_runs = serializers.IntegerField()
    comments_wake_assignee = serializers.BooleanField()
    agents_may_create_labels = serializers.BooleanField()
    hires_on_probation = serializers.BooleanField(help_text="Whether new agents begin on probation.")
    prompt_budget = serializers.IntegerField(help_text="Tokens.")
    retention_days = serializers.IntegerField()
    file_quota_mib = serializers.IntegerField(help_text="Room for attachments and every version of workspace files.")
    file_bytes = serializers.IntegerField(help_text="What they take now.")
    default_thinking = serializers.CharField(help_text="Empty: not at all.")
    checkpoints = serializers.BooleanField(help_text="Whether long issues are summed up.")


class NewCompanyForm(Form):
    name = serializers.CharField(max_length=120)
    key = serializers.CharField(max_length=10, help_text="2 to 10 letters and digits, a letter first.")
    mission = WrittenField(required=False, allow_blank=True)
    time_zone = serializers.CharField(required=False, max_length=64)


class CompanyForm(Form):
    """What an owner can change."""

    name = serializers.CharField(max_length=120, required=False)
    mission = WrittenField(required=False, allow_blank=True)
    norms = WrittenField(required=False, allow_blank=True)
    time_zone = serializers.CharField(required=False, max_length=64)
    hop_limit = serializers.IntegerField(required=False, min_value=0, max_value=1_000)
    continue_limit = serializers.IntegerField(required=False, min_value=0, max_value=1_000)
    runs_per_hour = serializers.IntegerField(required=False, min_value=0, max_value=10_000)
    max_concurrent_runs = serializers.IntegerField(required=False, min_value=1, max_value=10_000)
    comments_wake_assignee = serializers.BooleanField(required=False)
    agents_may_create_labels = serializers.BooleanField(required=False)
    hires_on_probation = serializers.BooleanField(required=False)
    prompt_budget = serializers.IntegerField(required=False, min_value=2_000, max_value=10_000_000)
    retention_days = serializers.IntegerField(required=False, min_value=1, max_value=3_650)
    file_quota_mib = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000_000)
    default_thinking = serializers.ChoiceField(choices=["", *THINKING_LEVELS], required=False)
    checkpoints = serializers.BooleanField(required=False)


class Companies(Resource):
    @operation("List companies", tag=TAG, query=PageQuery, answer=CompanyRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Company]:
        """The companies that the caller is in."""
        return self.page(self._visible(), OLDEST_FIRST, query)

    @operation("Found a company", tag=TAG, body=NewCompanyForm, answer=CompanyShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Company:
        """The caller becomes its first owner."""
        if not isinstance(self.actor, Person):
            raise Forbidden("Only a person founds a company.")
        return found_company(actor=self.actor, **form)

    def _visible(self) -> QuerySet[Company]:
        if isinstance(self.actor, Worker):
            return Company.objects.filter(pk=self.actor.agent.company_id)
        assert isinstance(self.actor, Person)  # noqa: S101 - callers are people or agents
        return Company.objects.filter(members__in=Member.objects.present().filter(user=self.actor.user))


class CompanyItem(Resource):
    @operation("Get a company", tag=TAG, answer=CompanyShape)
    def get(self, *, key: str) -> Company:
        return scope_of(self.actor, key).company

    @operation("Change a company", tag=TAG, body=CompanyForm, answer=CompanyShape)
    def patch(self, *, key: str, form: Mapping[str, Any]) -> Company:
        """Owners only."""
        scope = scope_of(self.actor, key)
        return change_company(actor=scope.actor, company=scope.company, **form)


class CompanyPause(Resource):
    @operation("Pause a company", tag=TAG, answer=CompanyShape)
    def post(self, *, key: str) -> Company:
        """Nothing starts until it is resumed; what is pending waits."""
        scope = scope_of(self.actor, key)
        return pause_company(actor=scope.actor, company=scope.company)


class CompanyResume(Resource):
    @operation("Resume a company", tag=TAG, answer=CompanyShape)
    def post(self, *, key: str) -> Company:
        scope = scope_of(self.actor, key)
        return resume_company(actor=scope.actor, company=scope.company)
