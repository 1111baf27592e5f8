"""What tests of adapters share."""

from tests.local_model import local_model

__all__ = ["local_model"]
