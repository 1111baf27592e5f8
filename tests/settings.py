"""Settings of the tests: the installation's own, in a throw-away folder and without anyone's keys."""

import atexit
import os
import shutil
import tempfile

# Each process, so each worker of a parallel run too, has a folder and databases of its own.
_folder = tempfile.mkdtemp(prefix="trimus-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)

# The environment, not the settings below: servers that tests start inherit it.
os.environ["TRIMUS_DATA_DIR"] = _folder
# Tests call faster than anybody may.
os.environ["TRIMUS_API_CALLS_PER_SECOND"] = "0"
for _name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TRIMUS_LLM_BASE_URL", "CELERY_BROKER_URL", "TRIMUS_STATIC_DIR"):
    os.environ[_name] = ""

from trimus.settings import *  # noqa: E402, F403
from trimus.settings import DATA_DIR, DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file, as in production: threads that share SQLite's in-memory database meet locks that do not queue.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASES["default"]["TEST"] = {"NAME": f"test_trimus_{os.getpid()}"}
    # What a test writes need not survive a power cut.
    DATABASES["default"]["OPTIONS"]["options"] = "-c synchronous_commit=off"

# Hashing slowly on purpose is tested once, not paid for at every log-in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Static files straight from where they lie, looked up when asked for instead of listed at every start.
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
STATIC_ROOT.mkdir()
