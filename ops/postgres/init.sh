#!/bin/sh
# Run by the Postgres image when its data folder is still empty.
set -eu

psql -v ON_ERROR_STOP=1 -v app_password="$SIMWAY_APP_PASSWORD" -v temporal_password="$TEMPORAL_DB_PASSWORD" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --file /etc/simway/roles.sql
