"""Secrets at rest: encrypted with keys from the environment, so that a copy of the database alone opens nothing.

The first key seals; each of them opens. A new key is put first, `manage.py rotate_keys` seals anew, the old one goes.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.db import models, transaction

from trimus.masking import hold


class Unsealable(Exception):
    """No key of this installation opens it."""

    def __init__(self) -> None:
        super().__init__("It was sealed under a key that this installation no longer has: see TRIMUS_ENCRYPTION_KEYS.")


if TYPE_CHECKING:
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


class SealedField(_TextField):
    """A column that holds what `seal` gives, or nothing. It is never shown: pages, API and exports leave it out."""


def seal(secret: str) -> str:
    """The secret as it may be stored; nothing stays nothing."""
    return _keys(tuple(settings.ENCRYPTION_KEYS)).encrypt(hold(secret).encode()).decode() if secret else ""


def unseal(sealed: str) -> str:
    """The secret behind what is stored. Raises Unsealable."""
    if not sealed:
        return ""
    try:
        return hold(_keys(tuple(settings.ENCRYPTION_KEYS)).decrypt(sealed.encode()).decode())
    except InvalidToken:
        raise Unsealable from None


def reseal_all() -> tuple[int, int]:
    """Seal every secret of the installation under the first key. How many were, and how many no key opens."""
    done = lost = 0
    for model, field in _columns():
        for pk in list(model._default_manager.exclude(**{field: ""}).values_list("pk", flat=True)):
            if _reseal(model, field, pk):
                done += 1
            else:
                lost += 1
    return done, lost


def count_unsealable() -> int:
    """How many secrets of the installation no key opens."""
    lost = 0
    for model, field in _columns():
        for sealed in model._default_manager.exclude(**{field: ""}).values_list(field, flat=True):
            try:
                unseal(sealed)
            except Unsealable:
                lost += 1
    return lost


def _columns() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, SealedField):
                yield model, field.name


def _reseal(model: type[models.Model], field: str, pk: object) -> bool:
    """One row at a time, held meanwhile: a secret that an owner sets at that moment is not overwritten."""
    with transaction.atomic():
        held = model._default_manager.select_for_update().filter(pk=pk).values_list(field, flat=True).first()
        if not held:
            return True  # removed meanwhile
        try:
            sealed = seal(unseal(held))
        except Unsealable:
            return False
        model._default_manager.filter(pk=pk).update(**{field: sealed})
        return True


@functools.lru_cache(maxsize=8)
def _keys(texts: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_stretch(text))) for text in texts])


def _stretch(text: str) -> bytes:
    """32 bytes from a random text of any form. It needs no slow hash: what people choose by heart is refused."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"trimus secrets at rest").derive(text.encode())
