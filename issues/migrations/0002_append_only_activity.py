from django.db import migrations

from issues.audit import install_triggers, remove_triggers


def shut(apps, schema_editor):
    install_triggers(schema_editor)


def open_again(apps, schema_editor):
    remove_triggers(schema_editor)


class Migration(migrations.Migration):
    dependencies = [("issues", "0001_initial")]

    operations = [migrations.RunPython(shut, open_again)]
