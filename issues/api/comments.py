"""Comments: reading, writing, changing, pinning."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from engine.acting import do_as_verbs
from issues.actors import Actor, Worker
from issues.keysets import NEWEST_FIRST, OLDEST_FIRST
from issues.models import Comment, Issue, Reaction, ReactionKind
from issues.refusals import NotFound
from issues.rest.paging import Page
from issues.rest.references import handles_named
from issues.rest.scope import issue_in_scope, row_in_scope
from issues.rest.shapes import Form, SecretsField, Shape, SomebodyField, StampField, WrittenField, texts_of
from issues.rest.views import PageQuery, Resource, WideQuery, operation
from issues.services.comments import delete_comment, edit_comment, pin_comment, unpin_comment, write_comment
from issues.services.mentions import mentioned_in
from issues.services.reactions import react, take_back_reaction

TAG = "Comments"


class CommentShape(Shape):
    """What somebody wrote on an issue."""

    id = serializers.IntegerField()
    author = SomebodyField("author_member", "author_agent")
    body = serializers.CharField(help_text="Markdown.")
    secrets = SecretsField()
    run = serializers.IntegerField(source="run_id", allow_null=True, help_text="The agent's run that wrote it.")
    created_at = StampField()
    edited_at = StampField(allow_null=True)
    deleted_at = StampField(allow_null=True, help_text="The text is gone; that there was one stays.")
    pinned_at = StampField(allow_null=True, help_text="Pinned comments stand whole in every prompt.")


class WrittenCommentShape(CommentShape):
    """A comment just written, with what it says in vain."""

    unknown = serializers.ListField(child=serializers.CharField(), help_text="@words that name nobody.")
    ambiguous = serializers.ListField(child=serializers.CharField(), help_text="@words that name several.")


class CommentQuery(WideQuery):
    order = serializers.ChoiceField(choices=["oldest", "newest"], required=False, default="oldest")


class CommentForm(Form):
    body = WrittenField(help_text="Markdown, at most 64 kB.")


WITHOUT = "Handles that are not to be called: they are named and stay asleep."


class EditedCommentForm(CommentForm):
    call = serializers.BooleanField(
        required=False, help_text="Wake and tell whom a new comment would. Otherwise an edit wakes nobody."
    )
    without = serializers.ListField(child=serializers.CharField(), required=False, max_length=50, help_text=WITHOUT)


class NewCommentForm(CommentForm):
    without = serializers.ListField(child=serializers.CharField(), required=False, max_length=50, help_text=WITHOUT)


class Comments(Resource):
    @operation("List comments", tag=TAG, query=CommentQuery, answer=CommentShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Comment]:
        _, issue = issue_in_scope(self.actor, identifier)
        order = NEWEST_FIRST if query["order"] == "newest" else OLDEST_FIRST
        return self.page(_shown().filter(issue=issue), order, query)

    @operation("Write a comment", tag=TAG, body=NewCommentForm, answer=WrittenCommentShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Comment:
        """It wakes the agents it mentions. A person's comment that mentions no other agent wakes the assignee. Whom it
        would call can be asked before, at `/api/mentions`."""
        scope, issue = issue_in_scope(self.actor, identifier)
        without = handles_named(form.get("without", ()))
        comment = do_as_verbs(
            scope.actor,
            issue,
            _verbs(scope.actor, issue),
            lambda actor: write_comment(actor=actor, issue=issue, body=form["body"], without=without),
        )
        mentioned = mentioned_in(scope.company, comment.body)
        vars(comment).update(unknown=mentioned.unknown, ambiguous=mentioned.ambiguous)
        return comment


def _verbs(actor: Actor, issue: Issue) -> list[tuple[str, str]]:
    """What an agent does by it: on the issue that its run is on it answers, as by the prose of a reply."""
    at_hand = isinstance(actor, Worker) and actor.home is not None and actor.home.pk == issue.pk
    return [] if at_hand else [("comment-on", issue.identifier)]


class CommentItem(Resource):
    @operation("Get a comment", tag=TAG, answer=CommentShape)
    def get(self, *, id: int) -> Comment:
        return row_in_scope(self.actor, _with_company(), id)[1]

    @operation("Edit a comment", tag=TAG, body=EditedCommentForm, answer=CommentShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Comment:
        """The caller's own. It wakes nobody unless `call` says so."""
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        return edit_comment(
            actor=scope.actor,
            comment=comment,
            body=form.get("body", comment.body),
            call=form.get("call", False),
            without=handles_named(form.get("without", ())),
        )

    @operation("Delete a comment", tag=TAG)
    def delete(self, *, id: int) -> None:
        """The caller's own: its text goes, that there was one stays visible."""
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        delete_comment(actor=scope.actor, comment=comment)


class CommentPin(Resource):
    @operation("Pin a comment", tag=TAG, answer=CommentShape)
    def post(self, *, id: int) -> Comment:
        """It stands whole in every later prompt on the issue. People only."""
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        return pin_comment(actor=scope.actor, comment=comment)

    @operation("Unpin a comment", tag=TAG)
    def delete(self, *, id: int) -> None:
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        unpin_comment(actor=scope.actor, comment=comment)


class ReactionShape(Shape):
    """What a member made of a comment. It wakes nobody."""

    reaction = serializers.ChoiceField(choices=ReactionKind.choices, source="kind")
    by = SomebodyField("member")
    created_at = StampField()


class ReactionForm(Form):
    reaction = serializers.ChoiceField(choices=ReactionKind.choices)


class CommentReactions(Resource):
    @operation("List reactions to a comment", tag=TAG, query=PageQuery, answer=ReactionShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[Reaction]:
        _, comment = row_in_scope(self.actor, _with_company(), id)
        return self.page(comment.reactions.select_related("member__user"), OLDEST_FIRST, query)

    @operation("React to a comment", tag=TAG, body=ReactionForm, answer=CommentShape)
    def post(self, *, id: int, form: Mapping[str, Any]) -> Comment:
        """Once of each kind. People only. It wakes nobody."""
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        react(actor=scope.actor, comment=comment, kind=ReactionKind(form["reaction"]))
        return comment


class CommentReactionItem(Resource):
    @operation("Take a reaction back", tag=TAG)
    def delete(self, *, id: int, reaction: str) -> None:
        """The caller's own of that kind, if there is one."""
        if reaction not in ReactionKind.values:
            raise NotFound("There is no such reaction.")
        scope, comment = row_in_scope(self.actor, _with_company(), id)
        take_back_reaction(actor=scope.actor, comment=comment, kind=ReactionKind(reaction))


def _shown() -> QuerySet[Comment]:
    """Comments with their authors, without the long texts that an agent's row holds."""
    return Comment.objects.select_related("author_member__user", "author_agent").defer(*texts_of("author_agent"))


def _with_company() -> QuerySet[Comment]:
    return _shown().select_related("author_member__user", "author_agent", "issue__company")
