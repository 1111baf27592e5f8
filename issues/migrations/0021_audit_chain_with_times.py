"""The chain over the audit begins anew, as the times of its seals are part of it now: those that were made are in
another form, and what they close is sealed again by the next tick."""

from django.db import migrations, models

from issues.audit import maintenance


def begin_anew(apps, schema_editor):
    alias = schema_editor.connection.alias
    with maintenance(using=alias):
        apps.get_model("issues", "AuditSeal").objects.using(alias).all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("issues", "0020_imported_issues"),
    ]

    operations = [
        migrations.RunPython(begin_anew, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="auditseal",
            name="sealed_at",
            field=models.DateTimeField(),
        ),
    ]
