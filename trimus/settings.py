"""Settings: the only reader of the environment. Each variable has a working default for one machine.

`.env.example` says what each variable is for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from trimus.checks import is_local_mode, unsafe_encryption_keys, unsafe_reasons
from trimus.language_models import LanguageModels
from trimus.masking import hold
from trimus.private_database import OwnersConnection
from trimus.secret_key import local_secret_key

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent
env.read_env(BASE_DIR / ".env")
# An empty variable is an unset one: a line of `.env` may be left open.
env.ENVIRON = {name: value for name, value in os.environ.items() if value}

# --- Where it lives and whom it serves

DATA_DIR = Path(env.str("TRIMUS_DATA_DIR", default=str(BASE_DIR / "data"))).resolve()
HOST = env.str("TRIMUS_HOST", default="127.0.0.1")
PORT = env.int("TRIMUS_PORT", default=8000)
ALLOWED_HOSTS = env.list("TRIMUS_ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
# Addresses of reverse proxies whose word about the client's address and scheme is taken.
TRUSTED_PROXIES = env.list("TRIMUS_TRUSTED_PROXIES", default=[])
LOCAL_MODE = is_local_mode(HOST, ALLOWED_HOSTS)
DEBUG = env.bool("DJANGO_DEBUG", default=False)
SECRET_KEY = env.str("TRIMUS_SECRET_KEY", default="")
SECRET_KEY_FALLBACKS = env.list("TRIMUS_SECRET_KEY_FALLBACKS", default=[])
if LOCAL_MODE:
    SECRET_KEY = SECRET_KEY or local_secret_key(DATA_DIR / "secret_key")
elif reasons := unsafe_reasons(secret_key=SECRET_KEY, debug=DEBUG, allowed_hosts=ALLOWED_HOSTS):
    raise ImproperlyConfigured("Other machines could reach this installation, so:\n" + "\n".join(reasons))

# What seals secrets in the database: the first seals, each opens. Without keys of its own it is made from the secret
# key; that one goes on opening, so that own keys can be added later.
ENCRYPTION_KEYS = env.list("TRIMUS_ENCRYPTION_KEYS", default=[])
if weak := unsafe_encryption_keys(ENCRYPTION_KEYS):
    raise ImproperlyConfigured(weak)
ENCRYPTION_KEYS = [*ENCRYPTION_KEYS, SECRET_KEY, *SECRET_KEY_FALLBACKS]

# --- Applications, requests, pages

INSTALLED_APPS = [
    "trimus.administration.OperatorsAdmin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "issues",
    "agents",
    "engine",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "trimus.headers.SecurityHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "trimus.compression.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "trimus.visibility.VisibilityMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "trimus.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Where `collectstatic` gathers them: an image brings its own, so that a newer one serves newer files.
STATIC_ROOT = Path(env.str("TRIMUS_STATIC_DIR", default=str(DATA_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Names carry a hash of the content, so browsers keep them for ever; gzipped once, not per request.
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# A file that was not gathered is a missing picture, not an error page.
WHITENOISE_MANIFEST_STRICT = False

# A request over this is answered with 413 before a thread sees it.
MAX_REQUEST_BYTES = 64 * 1024 * 1024

# --- Database and concurrency

# Threads that answer requests, in each web process.
WEB_THREADS = env.int("TRIMUS_WEB_THREADS", default=8)
# Runs that one worker process holds at a time, and how many of them do database work at once: 200 replies
# that arrive together must neither use up PostgreSQL's connections nor fight for SQLite's one lock.
WORKER_SLOTS = env.int("TRIMUS_WORKER_SLOTS", default=256)
DATABASE_SLOTS = env.int("TRIMUS_DATABASE_SLOTS", default=16)
# For how long a run keeps its issue without a sign of life of its worker.
LEASE_SECONDS = env.int("TRIMUS_LEASE_SECONDS", default=120)


def _database() -> dict[str, Any]:
    database: dict[str, Any]
    if "DATABASE_URL" in env.ENVIRON:
        database = env.db("DATABASE_URL")
        if "ENGINE" not in database:
            raise ImproperlyConfigured("DATABASE_URL is no address of a database: postgres://user:password@host/name")
    else:
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "trimus.sqlite3")}
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # One connection a thread, kept: opening one costs more than most queries.
        database["CONN_MAX_AGE"] = None
        database["OPTIONS"] = {
            # Deferred transactions fail at once with "database is locked" whatever the time-out, when
            # another writer got in after their first read; immediate ones queue.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "factory": OwnersConnection,
            # In WAL mode NORMAL loses no committed transaction to a killed process; a power cut may take
            # the last ones, and leaves the file whole.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        # A worker's threads wait on models, not on the database: they share few connections instead of
        # keeping one each. A closed connection goes back to the pool, so nothing may stay open (age 0).
        database["CONN_MAX_AGE"] = 0
        database["CONN_HEALTH_CHECKS"] = True
        # Nobody waits for one longer than for the server itself: one that is away is told as such.
        database["OPTIONS"] = {
            "connect_timeout": 5,
            "pool": {"min_size": 1, "max_size": max(DATABASE_SLOTS, WEB_THREADS) + 4, "timeout": 5},
        }
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Identity and transport

AUTH_USER_MODEL = "issues.User"
LOGIN_URL = "log-in"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
HTTPS = env.bool("TRIMUS_HTTPS", default=not LOCAL_MODE)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^health$", "^healthz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# Cookies do not know of ports: two installations on one machine would log each other out.
SESSION_COOKIE_NAME = f"trimus_session_{PORT}" if LOCAL_MODE else "trimus_session"
CSRF_COOKIE_NAME = f"trimus_csrf_{PORT}" if LOCAL_MODE else "trimus_csrf"

# --- Broker and worker: messages say "look", the rows in the database are the work

TICK_SECONDS = 5.0
BROKER_TIMEOUT_SECONDS = 1.0


def _broker_options() -> dict[str, Any]:
    """Options of the transport: each names its time-outs differently, and by default has none."""
    once = {"max_retries": 0}  # else kombu tries to connect again on its own account
    match CELERY_BROKER_URL.partition(":")[0]:
        case "embedded":
            return once | {"folder": str(BROKER_DIR)}
        case "redis" | "rediss":
            return once | {
                "socket_connect_timeout": BROKER_TIMEOUT_SECONDS,
                "socket_timeout": BROKER_TIMEOUT_SECONDS,
            }
        case "amqp" | "amqps":
            return once | {"read_timeout": BROKER_TIMEOUT_SECONDS, "write_timeout": BROKER_TIMEOUT_SECONDS}
        case _:
            return once


CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="embedded://localhost")
BROKER_DIR = DATA_DIR / "broker"
# A request that cannot ring waits no longer than this, once: the sweep finds what it left.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_TIMEOUT = BROKER_TIMEOUT_SECONDS
CELERY_BROKER_POOL_ACQUIRE_TIMEOUT = BROKER_TIMEOUT_SECONDS
CELERY_BROKER_TRANSPORT_OPTIONS = _broker_options()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as it takes
CELERY_IMPORTS = ["engine.tasks"]
CELERY_TASK_DEFAULT_QUEUE = "trimus"
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 4  # messages at a time, each soon done with: runs have slots of their own
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
# One interval, known in code, leaves the scheduler nothing to remember.
CELERY_BEAT_SCHEDULER = "trimus.beat:SteadyScheduler"
CELERY_BEAT_SCHEDULE = {
    "tick": {
        "task": "engine.tasks.tick",
        "schedule": TICK_SECONDS,
        # Ticks pile up while no worker runs, and a few are enough. Not too few: hosts' clocks differ.
        "options": {"expires": 12 * TICK_SECONDS},
    }
}

# --- Language models

LLM = LanguageModels(
    openai_api_key=env.str("OPENAI_API_KEY", default=""),
    openai_base_url=env.str("OPENAI_BASE_URL", default=""),
    anthropic_api_key=env.str("ANTHROPIC_API_KEY", default=""),
    anthropic_base_url=env.str("ANTHROPIC_BASE_URL", default=""),
    compatible_base_url=env.str("TRIMUS_LLM_BASE_URL", default=""),
    compatible_api_key=env.str("TRIMUS_LLM_API_KEY", default=""),
    compatible_model=env.str("TRIMUS_LLM_MODEL", default=""),
)
for _key in LLM.secrets:
    hold(_key)
# Whether companies may name addresses of models in the operator's own network. On one machine owner and operator are
# the same person; elsewhere a company must not reach through the server what it could not reach itself.
PRIVATE_MODEL_URLS = env.bool("TRIMUS_PRIVATE_MODEL_URLS", default=LOCAL_MODE)
# The same of webhooks: whether they may be sent to servers in the operator's own network.
PRIVATE_WEBHOOK_URLS = env.bool("TRIMUS_PRIVATE_WEBHOOK_URLS", default=LOCAL_MODE)
# Runs under way at most: in the whole installation, and of one provider of the environment. 0 is no limit of its own.
MAX_RUNS = env.int("TRIMUS_MAX_RUNS", default=0)
PROVIDER_MAX_RUNS = env.int("TRIMUS_PROVIDER_MAX_RUNS", default=0)

# --- Agents that are programs of this server

# Whether owners of companies may let agents run commands here, with the rights of this user. On one machine owner and
# operator are the same person; elsewhere the operator says so.
CLI_AGENTS = env.bool("TRIMUS_CLI_AGENTS", default=LOCAL_MODE)
# All that they are given of this process's environment. The home folder is where such programs keep their log-in.
CLI_HOME = env.str("TRIMUS_CLI_HOME", default=str(Path.home()))
CLI_PATH = env.str("TRIMUS_CLI_PATH", default=env.ENVIRON.get("PATH", os.defpath))
CLI_LANG = env.ENVIRON.get("LANG", "C.UTF-8")

# --- E-mail

# Nothing is sent unless this is set.
NOTICES_BY_MAIL = "EMAIL_URL" in env.ENVIRON
vars().update(env.email_url("EMAIL_URL", default="dummymail://"))
# A mail server that says nothing must not hold the tick.
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("TRIMUS_EMAIL_FROM", default="Trimus <trimus@localhost>")

# --- Logs

DEBUG_TOPICS = frozenset(env.list("TRIMUS_DEBUG", default=[]))
# Whoever sends this may read `/metrics`; empty: nobody.
METRICS_TOKEN = env.str("TRIMUS_METRICS_TOKEN", default="")
LOGGING_CONFIG = "trimus.logs.configure"
LOGGING = {
    "json": env.bool("TRIMUS_LOG_JSON", default=not LOCAL_MODE),
    "debug_topics": sorted(DEBUG_TOPICS),
}

# --- REST API (rest_framework, drf_spectacular)

# Of one key, or of one person's sessions, in each web process; ten seconds' worth at once. 0 is no limit.
API_CALLS_PER_SECOND = env.float("TRIMUS_API_CALLS_PER_SECOND", default=20.0)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agents.api.authentication.KeyAuthentication",
        "agents.api.authentication.BrowserAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["issues.rest.permissions.HasActor"],
    "DEFAULT_THROTTLE_CLASSES": ["issues.rest.rates.CallRate"],
    "DEFAULT_PARSER_CLASSES": ["issues.rest.bodies.JsonBody"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "issues.rest.negotiation.AsItIs",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "issues.rest.problems.answer_problem",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.MultiPartRenderer",
    ],
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Trimus",
    "DESCRIPTION": "People and agents act here as on the board: the same rules, the same activity.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    # In the order of a reader's interest, not of the alphabet.
    "TAGS": [
        {"name": name}
        for name in (
            "Issues",
            "Comments",
            "Attachments",
            "Files",
            "History and reviews",
            "Actions",
            "Checkouts",
            "Agents",
            "Notebooks",
            "Policy",
            "Runs",
            "Wakeups",
            "Approvals",
            "Skills",
            "Routines",
            "Projects and labels",
            "Saved views",
            "Companies",
            "Budgets and costs",
            "Models",
            "Keys",
            "Webhooks",
            "Hooks",
            "Health",
        )
    ],
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Two fields with the same choices are one type, by the name given here.
    "ENUM_NAME_OVERRIDES": {
        "IssueStatus": "issues.models.Status",
        "Grant": "issues.models.Grant",
        "PolicyPreset": "agents.models.PolicyPreset",
        "AgentStatus": "agents.models.AgentStatus",
        "ApprovalStatus": "issues.models.ApprovalStatus",
        "CompanyStatus": "issues.models.CompanyStatus",
        "RunState": "agents.models.RunState",
        "WakeupState": "agents.models.WakeupState",
        "ApprovalKind": "issues.models.ApprovalKind",
        "KeyScope": "issues.models.KeyScope",
        "WebhookKind": "issues.models.WebhookKind",
        "NoticeKind": "issues.notice_kinds.NOTICE_CHOICES",
        "MemberRole": "issues.models.Role",
        "SomebodyKind": ["member", "agent"],
        "CallerKind": ["person", "agent"],
        "ModelTier": "agents.models.ModelTier",
        "PromptTier": "agents.models.Tier",
    },
}
