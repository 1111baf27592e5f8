"""The zip file of a company as rows and contents, read a line at a time and bounded."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from django.utils.dateparse import parse_date, parse_datetime

from agents.export import FORMAT
from issues.refusals import Invalid, Refusal

LINE_BYTES = 1024 * 1024
"""A row at most: the longest text with each character escaped, and room beside it."""

MOST_ROWS = 1_000_000
"""Of one part."""

COMPANY = "company.json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a part. `place` says where it stands, for who has to look at it."""

    place: str
    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Empty where nothing stands."""
        return self._of(str, name) or ""

    def whole(self, name: str) -> int | None:
        value = self._of(int, name)
        if isinstance(value, bool):
            raise self.refused(f"“{name}” is no number.")
        return value

    def flag(self, name: str) -> bool:
        return bool(self._of(bool, name))

    def moment(self, name: str) -> datetime.datetime | None:
        with self.told():
            found = parse_datetime(self.text(name)) if self.text(name) else None
            if self.text(name) and (found is None or found.tzinfo is None):
                raise ValueError(f"“{name}” is no moment with its zone")
            return found

    def day(self, name: str) -> datetime.date | None:
        with self.told():
            found = parse_date(self.text(name)) if self.text(name) else None
            if self.text(name) and found is None:
                raise ValueError(f"“{name}” is no date")
            return found

    def texts(self, name: str) -> list[str]:
        return self._all(str, name)

    def wholes(self, name: str) -> list[int]:
        return self._all(int, name)

    def inner(self, name: str) -> Row:
        """The object that stands there; an empty one where none does."""
        return Row(self.place, self._of(dict, name) or {})

    def rows(self, name: str) -> list[Row]:
        return [Row(self.place, one) for one in self._all(dict, name)]

    def refused(self, why: str) -> Invalid:
        return Invalid(f"{self.place}: {why}")

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Say of a refusal which row it is about."""
        try:
            yield
        except (Refusal, ValueError) as why:
            raise self.refused(str(why)) from None

    def _of(self, kind: type[T], name: str) -> T | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, kind):
            raise self.refused(f"“{name}” is not what it should be.")
        return value

    def _all(self, kind: type[T], name: str) -> list[T]:
        found: list[T] = self._of(list, name) or []
        if not all(isinstance(one, kind) for one in found):
            raise self.refused(f"“{name}” holds what it should not.")
        return found


class Archive:
    """An opened zip file. Invalid for what is none, or of another form than this version reads."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise Invalid(f"It is no zip file that can be read: {error}.") from None
        self.company = next(self.rows(COMPANY), None) or Row(COMPANY, {})
        if self.company.values.get("format") != FORMAT:
            raise Invalid("It is no company, or one of another version.", f"This version reads the format {FORMAT}.")

    def rows(self, part: str) -> Iterator[Row]:
        """The objects of a part, one a line; none where it is missing."""
        with _readable(part), contextlib.suppress(KeyError), self._zip.open(part) as lines:
            for number in range(1, MOST_ROWS + 2):
                line = lines.readline(LINE_BYTES + 1)
                if not line:
                    return
                if len(line) > LINE_BYTES or number > MOST_ROWS:
                    raise Invalid(f"{part}, line {number}: there is more than is read.")
                yield Row(f"{part}, line {number}", _object(part, number, line))

    def content(self, digest: str, *, limit: int) -> bytes | None:
        """What is stored under the SHA-256; None where it is missing. Invalid if it is other or longer."""
        place = f"blobs/{digest[:64]}"
        try:
            with _readable(place), self._zip.open(f"blobs/{digest}") as file:
                content = file.read(limit + 1)
        except KeyError:
            return None
        if len(content) > limit:
            raise Invalid(f"{place}: it has more than {limit:,} bytes.")
        if hashlib.sha256(content).hexdigest() != digest:
            raise Invalid(f"{place}: its content is not what its name says.")
        return content


@contextlib.contextmanager
def _readable(place: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, RuntimeError) as error:
        raise Invalid(f"{place}: it cannot be read: {error}.") from None


def _object(part: str, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Invalid(f"{part}, line {number}: it is no JSON object.")
    return value
