#!/bin/sh
# Makes Temporal's two databases where they are missing and brings their schemas up to date, for the server version of this image. Safe to run
# again; runs before the server of a new version does. Reads POSTGRES_SEEDS, DB_PORT, POSTGRES_USER and SQL_PASSWORD.
set -eu

tool() {
  temporal-sql-tool --plugin postgres12 --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" "$@"
}

for kind in temporal visibility; do
  database=temporal
  [ "$kind" = visibility ] && database=temporal_visibility
  tool --db "$database" create-database
  tool --db "$database" setup-schema -v 0.0
  tool --db "$database" update-schema --schema-name "postgresql/v12/$kind"
done
