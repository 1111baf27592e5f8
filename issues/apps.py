from django.apps import AppConfig
from django.db.models.signals import post_migrate


class IssuesConfig(AppConfig):
    name = "issues"

    def ready(self) -> None:
        from issues.audit import keep_shut
        from issues.search_index import keep_index

        post_migrate.connect(keep_shut, sender=self, dispatch_uid="issues.keep_shut")
        post_migrate.connect(keep_index, sender=self, dispatch_uid="issues.keep_index")
