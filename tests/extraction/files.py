"""Files to read, made here: good ones, broken ones and hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import docx
import openpyxl
from pypdf import PdfReader, PdfWriter


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for place, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {resources}"
            f" /Contents {5 + 2 * place} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return _numbered(objects)


def _numbered(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)


def encrypted_pdf(*, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("For members only"))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    return _written(writer)


def pdf_bomb() -> bytes:
    """A page whose small stream unpacks to a gigabyte of drawing commands."""
    import zlib

    packer = zlib.compressobj(9)
    piece = b"(a) Tj " * 150_000
    packed = b"".join(packer.compress(piece) for _ in range(1_000)) + packer.flush()
    head = pdf("x")
    start = head.index(b"<< /Length ")
    stream = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed) + packed + b"\nendstream\nendobj\n"
    return head[:start] + stream + b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"


def _written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Plan", level=1)
    document.add_paragraph("First this.")
    document.add_paragraph("then that", style="List Bullet")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "rows", "42"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def sheet(rows: Sequence[Sequence[object]], title: str = "Lost rows") -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = title
    for row in rows:
        book.active.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def with_part(archive: bytes, name: str, content: bytes) -> bytes:
    """The archive with one of its parts replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return out.getvalue()


ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(9))
    + b']><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
    b"<w:t>&j;</w:t></w:r></w:p></w:body></w:document>"
)
"""A Word document of a few lines that would unfold to terabytes."""

SECRETS = (
    b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
    b"<w:t>Here: &x;</w:t></w:r></w:p></w:body></w:document>"
)
"""A Word document that asks for a file of this machine."""
