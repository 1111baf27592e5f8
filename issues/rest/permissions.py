"""Who may call at all. What a caller may do is the services' question."""

from __future__ import annotations

from rest_framework.permissions import BasePermission
from rest_framework.request import Request


class HasActor(BasePermission):
    """Whoever calls is somebody: a person or an agent."""

    def has_permission(self, request: Request, _view: object) -> bool:
        return request.auth is not None
