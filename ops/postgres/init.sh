#!/bin/sh
# Run by the Postgres image when its data folder is still empty, and by hand after a password was changed (docs/OPERATIONS.md).
# psql reads the passwords from their files: arguments and variables are seen by other processes.
set -eu

# Stops here if one cannot be read: psql would go on with an empty password.
cat "$SIMWAY_OWNER_PASSWORD_FILE" "$SIMWAY_APP_PASSWORD_FILE" "$TEMPORAL_DB_PASSWORD_FILE" >/dev/null

psql -v ON_ERROR_STOP=1 --quiet --single-transaction --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --file - <<'COMMANDS'
\set owner_password `cat "$SIMWAY_OWNER_PASSWORD_FILE"`
\set app_password `cat "$SIMWAY_APP_PASSWORD_FILE"`
\set temporal_password `cat "$TEMPORAL_DB_PASSWORD_FILE"`
\include /etc/simway/roles.sql
COMMANDS
