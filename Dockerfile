# One image for web, worker and beat; compose.yaml says which is which.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# For `manage.py backup` and `restore`.
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/*
WORKDIR /trimus

COPY requirements.txt .
RUN pip install --requirement requirements.txt

COPY . .
# Static files belong to the image. This needs settings, and local mode has defaults for all of them.
RUN TRIMUS_DATA_DIR=/srv/build python manage.py collectstatic --no-input \
    && mv /srv/build/static /srv/static && rm -r /srv/build \
    && useradd --system --uid 1000 trimus && install -d -o trimus /data

USER trimus
ENV TRIMUS_DATA_DIR=/data TRIMUS_STATIC_DIR=/srv/static TRIMUS_HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "web"]
