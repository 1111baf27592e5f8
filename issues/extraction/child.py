"""Reads one PDF or Office file from standard input and writes its text, or why not, as JSON to standard output.

    python -I child.py pdf|docx|xlsx <file

It stands alone, without Django or anything of this project, and bounds itself before it looks at the file.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator

SECONDS = 10
MEMORY_BYTES = 512 * 1024 * 1024
OUTPUT_BYTES = 2 * 1024 * 1024
UNPACKED_BYTES = 200 * 1024 * 1024
"""Of an Office file, which is an archive: what it may unpack to."""

TEXT_CHARACTERS = 200_000


class Unreadable(Exception):
    """Why the file cannot be read, as words that follow "could not be read: "."""


def bound() -> None:
    """Limits that hold whatever the readers do. The last: no file is written but the answer, and that stays small."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_pdf(content: bytes) -> str:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    # An empty password opens what is only protected from being changed.
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("it is encrypted")
    text = _joined(_pages(reader.pages))
    if not text.strip():
        raise Unreadable("it holds no text, only pictures of pages perhaps")
    return text


def _pages(pages: Iterable[object]) -> Iterator[str]:
    for number, page in enumerate(pages, start=1):
        if text := page.extract_text().strip():  # type: ignore[attr-defined] # pypdf's own list is untyped here
            yield f"[page {number}]\n{text}\n"


def read_docx(content: bytes) -> str:
    from docx import Document
    from docx.table import Table

    def blocks() -> Iterator[str]:
        for block in Document(io.BytesIO(content)).iter_inner_content():
            if isinstance(block, Table):
                yield from (" | ".join(_flat(cell.text) for cell in row.cells) for row in block.rows)
            elif block.text.strip():
                style = (block.style.name or "") if block.style is not None else ""
                yield f"{_mark(style)}{block.text}"

    _check_size(content)
    return _joined(blocks())


def _mark(style: str) -> str:
    """A heading's level or a list's bullet, as Markdown has them."""
    if style == "Title":
        return "# "
    if style.startswith("Heading ") and style[8:].isdecimal():
        return "#" * min(6, int(style[8:])) + " "
    return "- " if style.startswith("List") else ""


def read_xlsx(content: bytes) -> str:
    from openpyxl import load_workbook

    def rows() -> Iterator[str]:
        for sheet in load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets:
            yield f"[sheet {sheet.title}]"
            for row in sheet.iter_rows(values_only=True):
                if line := " | ".join("" if value is None else _flat(str(value)) for value in row).rstrip(" |"):
                    yield line

    _check_size(content)
    return _joined(rows())


def _check_size(content: bytes) -> None:
    """An archive's list tells what it unpacks to; what is larger than told is not unpacked further."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(part.file_size for part in archive.infolist()) > UNPACKED_BYTES:
            raise Unreadable(f"it unpacks to more than {UNPACKED_BYTES // 1024 // 1024} MB")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _joined(pieces: Iterable[str]) -> str:
    """The pieces, a line each, up to what is kept: the rest is not even read."""
    lines: list[str] = []
    left = TEXT_CHARACTERS
    for piece in pieces:
        lines.append(piece)
        left -= len(piece) + 1
        if left <= 0:
            break
    return "\n".join(lines)[:TEXT_CHARACTERS]


READERS: dict[str, Callable[[bytes], str]] = {"pdf": read_pdf, "docx": read_docx, "xlsx": read_xlsx}


def main() -> None:
    bound()
    text, why = "", ""
    try:
        text = READERS[sys.argv[1]](sys.stdin.buffer.read())
    except Unreadable as reason:
        why = str(reason)
    except MemoryError:
        why = "it needs more memory than a file may"
    except RecursionError:
        why = "it is nested too deep"
    except Exception as error:  # whatever a reader makes of a broken file
        why = f"it is damaged ({type(error).__name__})"
    # Escaped, so that no half of a surrogate pair stands in the way.
    sys.stdout.write(json.dumps({"text": text, "why": why}))


if __name__ == "__main__":
    main()
