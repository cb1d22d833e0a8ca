#!/bin/sh
# Run by the Postgres image when its data folder is still empty, and by hand after a password in .env was changed (docs/OPERATIONS.md).
# Passwords come to psql by its environment, where other processes do not see them.
set -eu

psql -v ON_ERROR_STOP=1 --quiet --single-transaction --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --file - <<'COMMANDS'
\getenv owner_password SIMWAY_OWNER_PASSWORD
\getenv app_password SIMWAY_APP_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD
\include /etc/simway/roles.sql
COMMANDS
