"""Parts of addresses that are more than a word. Importing this makes `<company:...>`, `<handle:...>` and
`<identifier:...>` known."""

from django.urls import register_converter


class CompanySlug:
    """A company's key in lower case."""

    regex = "[a-z][a-z0-9]{1,9}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Handle:
    """What somebody is called by after an @, read in any case."""

    regex = "[A-Za-z0-9._-]{1,40}"

    def to_python(self, value: str) -> str:
        return value.lower()

    def to_url(self, value: str) -> str:
        return value


class Identifier:
    """`ACME-12`, read in any case."""

    regex = "[A-Za-z][A-Za-z0-9]{1,9}-[0-9]{1,9}"

    def to_python(self, value: str) -> str:
        return value.upper()

    def to_url(self, value: str) -> str:
        return value.upper()


register_converter(CompanySlug, "company")
register_converter(Handle, "handle")
register_converter(Identifier, "identifier")
