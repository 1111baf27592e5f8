"""What the pages of the admin site have in common: they show everything, and change nothing but through services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from issues.actors import Person
from issues.models import User
from issues.refusals import Refusal

Command = Callable[[Person, Any], object]

if TYPE_CHECKING:
    _Page = admin.ModelAdmin[Any]
else:
    _Page = admin.ModelAdmin  # generic in its stubs only


class Shown(_Page):
    """Rows to look at. Each page links to what refers to its row (`related`: a model's label, its field, a word)."""

    related: ClassVar[Sequence[tuple[str, str, str]]] = ()
    hidden: ClassVar[Sequence[str]] = ()
    """Fields that nobody is to see: hashes of secrets."""
    long: ClassVar[Sequence[str]] = ()
    """Texts that a list does not show, so does not read."""
    editable: ClassVar[Sequence[str]] = ()

    show_full_result_count = False  # a second count of a table that only grows
    list_per_page = 50
    ordering = ("-pk",)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return bool(self.editable)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return rows.defer(*self.long) if is_list and self.long else rows

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:  # noqa: ARG002
        return [*self.editable, *self._kept(), *(["elsewhere"] if self.related else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:  # noqa: ARG002
        return [*self._kept(), "elsewhere"]

    @admin.display(description="Elsewhere")
    def elsewhere(self, row: Model) -> SafeString:
        """Links to the lists of what refers to this row."""
        return format_html_join(
            " · ",
            '<a href="{}?{}__{}__exact={}">{}</a>',
            (
                (reverse(f"admin:{label.replace('.', '_')}_changelist"), field, row._meta.pk.name, row.pk, word)
                for label, field, word in self.related
            ),
        )

    def _kept(self) -> list[str]:
        fields = [*self.model._meta.fields, *self.model._meta.many_to_many]
        own = [field.name for field in fields if not field.primary_key or not field.auto_created]
        through = {
            field.name for field in self.model._meta.many_to_many if not field.remote_field.through._meta.auto_created
        }
        return [name for name in own if name not in {*self.editable, *self.hidden, *through}]


class Edited(Shown):
    """Rows of which some fields can be changed, by the service that everybody else changes them by."""

    def change(self, person: Person, row: Any, changes: Mapping[str, Any]) -> object:
        """Carry out the change of these fields. Refusals are shown."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:  # noqa: ARG002
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        if changes:
            # The form has already written into `obj`; the service is to see the row as it is.
            self.change(person_of(request), self.model._default_manager.get(pk=obj.pk), changes)

    def save_related(self, request: HttpRequest, form: ModelForm[Any], formsets: Any, change: bool) -> None:
        """The service has done all there is to do."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Refusal as refusal:
            self.message_user(request, f"Nothing was changed. {refusal}", messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())


def person_of(request: HttpRequest) -> Person:
    """Who is logged in, as an actor: with the rights that their membership of a company gives them there."""
    assert isinstance(request.user, User)  # noqa: S101 - the site lets nobody else in
    return Person(request.user)


def action(name: str, description: str, command: Command) -> Any:
    """An action on selected rows: one service call each. What is refused is told, and stops none of the others."""

    @admin.action(description=description)
    def act(page: Shown, request: HttpRequest, rows: QuerySet[Any]) -> None:
        done = 0
        for row in rows:
            try:
                command(person_of(request), row)
            except Refusal as refusal:
                page.message_user(request, f"{row}: {refusal}", messages.ERROR)
            else:
                done += 1
        if done:
            page.message_user(request, f"{description}: {done} done.", messages.SUCCESS)

    act.__name__ = name
    return act


def link(field: str, description: str = "") -> Any:
    """A column of a list with a link to the row that the field refers to. The list has to select that relation."""

    @admin.display(description=description or field.replace("_", " "), ordering=field)
    def show(row: Any) -> SafeString | str:
        target = getattr(row, field)
        if target is None:
            return "-"
        address = reverse(f"admin:{target._meta.app_label}_{target._meta.model_name}_change", args=[target.pk])
        return format_html('<a href="{}">{}</a>', address, target)

    return show
