"""Every address of the installation."""

from django.contrib import admin
from django.urls import include, path, re_path

from issues.rest.addresses import without_slash
from issues.rest.views import Nowhere
from trimus.health import health, work_health
from trimus.metrics import metrics

handler500 = "trimus.outages.answer_error"

urlpatterns = [
    path("healthz", health),
    path("health", work_health),
    path("metrics", metrics),
    path("admin/", admin.site.urls),
    path("api/", include("issues.api.urls")),
    path("api/", include("agents.api.urls")),
    re_path(r"^api/(?P<address>.+)/$", without_slash),
    re_path(r"^api(?:/|$)", Nowhere.as_view()),
    path("", include("issues.urls")),
    path("", include("agents.urls")),
]
