"""`manage.py eval`: how well a model does on the frozen set of scenarios."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.adapters.thinking import ThinkingLevel
from agents.models import Tier
from engine.evaluation.apart import INSIDE, run_apart
from engine.evaluation.personas import PERSONAS
from engine.evaluation.results import Results, as_json, as_table, as_words, from_json
from engine.evaluation.scenarios import SCENARIOS
from engine.evaluation.trial import NotWoken, Player, Trial, play_all


class Command(BaseCommand):
    help = (
        "Play 24 small scenarios with a model, in throw-away companies apart from this installation's, and judge the"
        " rows that result. Models are those of the environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--provider", default="scripted", help="openai, anthropic or scripted (the default)")
        parser.add_argument("--model", default="", help="the model; by default the provider's")
        parser.add_argument("--persona", choices=PERSONAS, default="perfect", help="who plays a scripted agent")
        parser.add_argument("--tier", choices=Tier.values, default="", help="the prompt's; by default by the model")
        parser.add_argument("--thinking", choices=[level.value for level in ThinkingLevel], default="")
        parser.add_argument("--max-output", type=int, help="tokens of an answer at most")
        parser.add_argument(
            "--scenario", action="append", choices=[one.name for one in SCENARIOS], help="only this one"
        )
        parser.add_argument("--repeat", type=int, default=1, metavar="N", help="play each so often")
        parser.add_argument("--json", metavar="FILE", help="write the results there, too; - prints them instead")
        parser.add_argument("--require-all", action="store_true", help="fail unless all trials pass")
        parser.add_argument(
            "--compare",
            nargs=2,
            metavar=("A", "B"),
            help="compare two: each a file of results, or provider:model (scripted:lazy) to be played now",
        )
        parser.add_argument(INSIDE, action="store_true", help="this is the place apart already")

    def run_from_argv(self, argv: list[str]) -> None:
        """On the command line: go apart first, so that nothing here is touched."""
        if INSIDE in argv or {"-h", "--help"} & set(argv):
            super().run_from_argv(argv)
            return
        sys.exit(run_apart(argv[1:]))

    def handle(self, *, compare: list[str] | None, **options: Any) -> None:
        if options["repeat"] < 1:
            raise CommandError("--repeat must be at least 1.")
        if options["inside"]:
            logging.disable(logging.INFO)  # what each run logs would hide how each trial ended
            call_command("migrate", interactive=False, verbosity=0)
        if compare:
            first, second = (self._recall_or_play(name, options) for name in compare)
            self.stdout.write(as_words(first, second))
            return
        results = self._play(_player(options), options)
        self._tell(results, options["json"])
        if options["require_all"] and not all(trial.succeeded for trial in results.trials):
            raise CommandError("Not all trials passed.")

    def _recall_or_play(self, name: str, options: dict[str, Any]) -> Results:
        if Path(name).is_file():
            try:
                return from_json(Path(name).read_text("utf-8"))
            except ValueError as error:
                raise CommandError(f"{name}: {error}") from error
        provider, _, model = name.partition(":")
        kind = "persona" if provider == "scripted" else "model"
        if kind == "persona" and model not in PERSONAS:
            raise CommandError(f"{name} is neither a file of results nor provider:model nor a scripted persona.")
        return self._play(_player(options | {"provider": provider, kind: model}), options)

    def _play(self, player: Player, options: dict[str, Any]) -> Results:
        wanted = options["scenario"] or [one.name for one in SCENARIOS]
        trials: list[Trial] = []
        try:
            for trial in play_all([one for one in SCENARIOS if one.name in wanted], player, options["repeat"]):
                trials.append(trial)
                self.stderr.write(f"{trial.scenario}: {'passed' if trial.succeeded else 'not passed'}")
        except NotWoken as error:
            raise CommandError(str(error)) from error
        return Results(player.name, tuple(trials))

    def _tell(self, results: Results, file: str | None) -> None:
        if file == "-":
            self.stdout.write(as_json(results))
            return
        self.stdout.write(as_table(results))
        if file:
            Path(file).write_text(as_json(results), encoding="utf-8")


def _player(options: dict[str, Any]) -> Player:
    provider = options["provider"]
    fields = {
        "provider": provider,
        "model": options["model"],
        "tier": options["tier"],
        "thinking": options["thinking"],
        "max_output_tokens": options["max_output"],
    }
    if provider == "scripted":
        return Player(f"scripted, {options['persona']}", fields, options["persona"])
    return Player(f"{provider}, {options['model'] or 'its default model'}", fields)
