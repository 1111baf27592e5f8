"""Reading what the /install verbs propose: front matter and text, or YAML alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.text.frontmatter import read_front_matter


def read_definition(body: str, name: str, *, keys: Collection[str], text_key: str) -> dict[str, Any]:
    """The definition as plain values; its text, if it has front matter, under `text_key`.

    Invalid when it is neither front matter with known keys nor a YAML mapping of them, or names nothing.
    """
    from issues.refusals import Invalid

    front = read_front_matter(body, {*keys, "name"})
    if front.values:
        values: dict[str, Any] = {**front.values, text_key: front.text}
    else:
        values = _read_yaml(body, {*keys, "name", text_key})
    if name:
        values["name"] = name
    if not str(values.get("name", "")).strip():
        raise Invalid("The definition has no name.", "Give it after the verb or as `name:`.", field="name")
    return {key.replace("-", "_"): value for key, value in values.items()}


def _read_yaml(body: str, known: Collection[str]) -> dict[str, Any]:
    import yaml

    from issues.refusals import Invalid

    try:
        read = yaml.safe_load(body)
    except yaml.YAMLError as error:
        raise Invalid(f"The definition is no YAML: {str(error).splitlines()[0]}.", field="body") from None
    if not isinstance(read, dict):
        raise Invalid("The definition is neither front matter nor YAML with keys.", field="body")
    unknown = [str(key) for key in read if str(key).replace("_", "-") not in known]
    if unknown:
        raise Invalid(
            f"The definition has an unknown key “{unknown[0]}”.", f"Known: {', '.join(sorted(known))}.", field="body"
        )
    return {str(key).replace("_", "-"): "" if value is None else str(value) for key, value in read.items()}
