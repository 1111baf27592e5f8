"""Which paths a workspace accepts. Every component is checked by itself; what is doubtful is refused."""

from __future__ import annotations

import re
import unicodedata

from issues.refusals import Invalid
from issues.texts import fold

COMPONENT_BYTES = 255
PATH_CHARACTERS = 1_000

_WINDOWS_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", *(port + n for port in ("com", "lpt") for n in "123456789¹²³")}
)
_SECRET_PLACES = frozenset(
    {".git", ".hg", ".svn", ".bzr", ".gitmodules", ".env", ".envrc", ".ssh", ".gnupg", ".pgpass", ".htpasswd"}
    | {".aws", ".azure", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".bash_history"}
)
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def check_path(wanted: str) -> str:
    """The path in its one form: relative, `/` between components, NFC. Invalid, with the reason, otherwise."""
    path = unicodedata.normalize("NFC", wanted.strip())
    if not path:
        raise _refused(wanted, "it is empty")
    if len(path) > PATH_CHARACTERS:
        raise _refused(wanted[:60] + "…", f"it is longer than {PATH_CHARACTERS:,} characters")
    if any(unicodedata.category(character) in _UNPRINTABLE for character in path):
        raise _refused(wanted, "it holds control or invisible characters")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        raise _refused(wanted, "it is absolute")
    if "\\" in path:
        raise _refused(wanted, "it holds a backslash")
    components = path.split("/")
    while components[0] == ".":
        components.pop(0)
        if not components:
            raise _refused(wanted, "it names no file")
    for component in components:
        _check_component(wanted, component)
    return "/".join(components)


def path_key(path: str) -> str:
    """Two paths with one key would be one file on some system."""
    return fold(path)


def _check_component(path: str, component: str) -> None:
    if component in ("", ".", ".."):
        raise _refused(path, f"“{component}” is not a file or folder name")
    if len(component.encode()) > COMPONENT_BYTES:
        raise _refused(path[:60] + "…", f"a name in it is longer than {COMPONENT_BYTES} bytes")
    if component.endswith((".", " ")) or component.startswith(" "):
        raise _refused(path, f"“{component}” begins or ends with a space or dot")
    if ":" in component or component.startswith("~"):
        raise _refused(path, f"“{component}” could be read as something else than a name")
    folded = fold(component)
    if folded.split(".")[0].rstrip() in _WINDOWS_DEVICES:
        raise _refused(path, f"“{component}” is a reserved device name")
    # `git~1` is the short name that some systems give to `.git`.
    if folded in _SECRET_PLACES or folded.startswith(".env.") or re.fullmatch(r"git~[0-9]+", folded):
        raise _refused(path, f"“{component}” is a place for secrets or settings")


def _refused(path: str, why: str) -> Invalid:
    return Invalid(f"The path “{path}” is refused: {why}.", "Use a path inside the workspace.", field="path")
