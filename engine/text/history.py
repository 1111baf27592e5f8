"""Conversation History: comments and activity in one timeline, and what became of the agent's last actions.

Over its share it keeps both ends: the first comment, which says what the talk is about, and the newest. What
is kept grows from the newest backwards without gaps, so that at a fixed share a new comment can push an older
one out but never bring one back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from itertools import groupby

from engine.text.assignment import comment_header
from engine.text.checkpoints import render_checkpoint
from engine.text.context import ActivityLine, Checkpoint, Comment, History, HistoryEntry, Participant, PastAction
from engine.text.fitting import JOINT, Fitting, Measure
from engine.text.quoting import flat, named, quote, quote_clamped

ENTRIES = 1_000
"""Newest entries ever looked at. One costs 10 tokens at least, so a budget of 24,000 could not hold much more."""

LONG_COMMENT = 2_000
SHORT_COMMENT = 400
"""Characters: what is left of a long comment once History exceeds its share, and of the newest when even that
does not fit."""

JOINED_CHANGES = 12
"""Newest changes named in one joined line of activity."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One block of the timeline. `comment` is set when it shows that comment's text, and then may be cut; `id` is that
    of the comment it stands for, 0 for activity."""

    header: str
    comment: Comment | None = None
    id: int = 0

    @property
    def is_comment(self) -> bool:
        return self.id != 0

    def render(self, limit: int | None = None) -> str:
        if self.comment is None:
            return self.header
        body = self.comment.body
        return f"{self.header}\n{quote(body) if limit is None else quote_clamped(body, limit)}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """What History shows, oldest first, not yet cut. `left_out` counts comments missing behind the first one. If there
    is a checkpoint, `summary` is its text, which can stand for the first `summed_up` blocks."""

    blocks: tuple[_Block, ...]
    left_out: int
    summary: str = ""
    summed_up: int = 0

    @property
    def comments(self) -> int:
        """All comments, shown or left out."""
        return self.left_out + sum(block.is_comment for block in self.blocks)

    @property
    def first_comment(self) -> int:
        """The place of the first comment's block; -1 when there is none."""
        return next((place for place, block in enumerate(self.blocks) if block.is_comment), -1)


def shorten(history: History) -> History:
    """The history without what could never be shown: what follows costs time by the length of this one."""
    entries = history.entries
    if len(entries) <= ENTRIES:
        return history
    middle = entries[:-ENTRIES]
    first = next((entry for entry in middle if isinstance(entry, Comment)), None)
    if first is None:
        return replace(history, entries=entries[-ENTRIES:])
    dropped = sum(isinstance(entry, Comment) for entry in middle) - 1
    return History((first, *entries[-ENTRIES:]), history.left_out + dropped)


def timeline_of(
    history: History, elsewhere: Mapping[int, str], zone: tzinfo | None, checkpoint: Checkpoint | None = None
) -> Timeline:
    """The history's blocks. `elsewhere` maps ids of comments that stand in another section to its title: a line
    stands for them here."""
    blocks: list[_Block] = []
    for _, group in groupby(enumerate(history.entries), key=_run_key):
        run = [entry for _, entry in group]
        first = run[0]
        if isinstance(first, Comment):
            blocks.append(_comment_block(first, elsewhere, zone))
        else:
            blocks.append(_activity_block([entry for entry in run if isinstance(entry, ActivityLine)], zone))
    if checkpoint is None:
        return Timeline(tuple(blocks), history.left_out)
    until = [place for place, block in enumerate(blocks, start=1) if 0 < block.id <= checkpoint.until]
    summary = render_checkpoint(checkpoint.fields, checkpoint.comments)
    return Timeline(tuple(blocks), history.left_out, summary, summed_up=max(until, default=0))


def fit_timeline(timeline: Timeline, *, allowance: int, measure: Measure) -> Fitting | None:
    """The timeline for an allowance of tokens; none if not even the newest entry fits."""
    texts: list[str] = []
    total = measure(_omitted(timeline.left_out)) + JOINT if timeline.left_out else 0
    for block in reversed(timeline.blocks):
        texts.append(block.render())
        total += measure(texts[-1]) + JOINT
        if total > allowance:
            return _fit_summed_up(timeline, allowance, measure) or _fit_ends(timeline, allowance, measure)
    texts.reverse()
    if timeline.left_out:
        texts.insert(timeline.first_comment + 1, _omitted(timeline.left_out))
    return Fitting("\n\n".join(texts), total, is_whole=True)


def outcome_lines(actions: Iterable[PastAction], hint: str) -> list[str]:
    """What of the agent's last actions did not happen, newest first, and the engine's remark on its last reply."""
    lines = [f"- {_tried(action)}, {action.outcome}: {flat(action.reason, 500)}" for action in actions]
    heading = ["Of your last reply this did not happen:"] if lines else []
    return [*heading, *reversed(lines), *([f"About your last reply: {flat(hint)}"] if hint.strip() else [])]


def _tried(action: PastAction) -> str:
    return f"/{action.verb} {flat(action.args, 120)}".rstrip()


def _fit_summed_up(timeline: Timeline, allowance: int, measure: Measure) -> Fitting | None:
    """The checkpoint and the newest blocks after it that fit; none without one, or if it would take more than half."""
    used = measure(timeline.summary) + JOINT
    if not timeline.summary or used > allowance // 2:
        return None
    rest = timeline.blocks[timeline.summed_up :]
    comments = sum(block.is_comment for block in rest)
    used += measure(_omitted(comments)) + JOINT
    newest, size = _newest(rest, allowance - used, measure)
    parts = [timeline.summary]
    if len(newest) < len(rest):
        parts.append(_omitted(comments - sum(block.is_comment for block in rest[len(rest) - len(newest) :])))
    return Fitting("\n\n".join([*parts, *reversed(newest)]), used + size, is_whole=False)


def _fit_ends(timeline: Timeline, allowance: int, measure: Measure) -> Fitting | None:
    """The first comment and the newest blocks that fit, long comments cut; none if not even the newest fits."""
    comments, first = timeline.comments, timeline.first_comment
    used = measure(_omitted(comments)) + JOINT
    opening, rest = "", timeline.blocks
    if 0 <= first < len(rest) - 1:
        opening, rest = _shown(rest[first], (allowance - used) // 2, measure), rest[first + 1 :]
        used += measure(opening) + JOINT
    newest, size = _newest(rest, allowance - used, measure)
    if not newest:
        return None
    shown = bool(opening) + sum(block.is_comment for block in rest[-len(newest) :])
    parts = [opening] if opening else []
    if comments > shown or len(newest) < len(rest):
        parts.append(_omitted(comments - shown))
    return Fitting("\n\n".join([*parts, *reversed(newest)]), used + size, is_whole=False)


def _newest(blocks: Sequence[_Block], allowance: int, measure: Measure) -> tuple[list[str], int]:
    """The newest blocks that fit, newest first, without a gap; and their size. The very newest may be cut short."""
    texts: list[str] = []
    used = 0
    for block in reversed(blocks):
        text = block.render(LONG_COMMENT) if texts else _shown(block, allowance - JOINT, measure)
        size = measure(text) + JOINT
        if not text or used + size > allowance:
            break
        texts.append(text)
        used += size
    return texts, used


def _shown(block: _Block, allowance: int, measure: Measure) -> str:
    """The block as long as it may be within the allowance, or nothing."""
    for limit in (LONG_COMMENT, SHORT_COMMENT):
        text = block.render(limit)
        if measure(text) <= allowance:
            return text
    return ""


def _omitted(comments: int) -> str:
    if not comments:
        return "[earlier activity omitted]"
    return f"[{comments:,} earlier comment{'s' if comments > 1 else ''} omitted]"


def _run_key(numbered: tuple[int, HistoryEntry]) -> tuple[int, Participant | None]:
    """Equal for neighbours that join: activity by one actor. A comment joins nothing."""
    place, entry = numbered
    return (place, entry.author) if isinstance(entry, Comment) else (-1, entry.actor)


def _comment_block(comment: Comment, elsewhere: Mapping[int, str], zone: tzinfo | None) -> _Block:
    header = comment_header(comment, zone)
    if comment.id in elsewhere:
        return _Block(f"{header} see {elsewhere[comment.id]}.", id=comment.id)
    return _Block(header, comment, comment.id)


def _activity_block(run: Sequence[ActivityLine], zone: tzinfo | None) -> _Block:
    actor = named(run[0].actor) if run[0].actor else "The system"
    earlier = len(run) - JOINED_CHANGES
    changes = [flat(line.words) for line in run[-JOINED_CHANGES:]]
    if earlier > 0:
        changes.insert(0, f"made {earlier} earlier changes")
    return _Block(f"[{run[0].at.astimezone(zone):%Y-%m-%d %H:%M}] {actor} {'; '.join(changes)}.")
