"""Which language models the environment offers to new agents."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LanguageModels:
    """Keys and addresses from the environment; an empty string means not set.

    `compatible_base_url` is any server that speaks Chat Completions; it answers as `compatible_model`.
    Keys stay out of the representation, and so out of logs and error pages.
    """

    openai_api_key: str = field(default="", repr=False)
    openai_base_url: str = ""
    anthropic_api_key: str = field(default="", repr=False)
    anthropic_base_url: str = ""
    compatible_base_url: str = ""
    compatible_api_key: str = field(default="", repr=False)
    compatible_model: str = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys, to be masked wherever they turn up."""
        return tuple(key for key in (self.openai_api_key, self.anthropic_api_key, self.compatible_api_key) if key)

    @property
    def any(self) -> bool:
        """Whether at least one real model can be called."""
        return bool(self.openai_api_key or self.anthropic_api_key or self.compatible_base_url)
