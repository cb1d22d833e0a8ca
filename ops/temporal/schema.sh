#!/bin/sh
# Creates Temporal's two databases if they are missing and updates their schemas to this image's server version. Safe to repeat. Runs before
# the server of a new version starts. Reads POSTGRES_SEEDS, DB_PORT, POSTGRES_USER and the file of POSTGRES_PWD_FILE.
set -eu

SQL_PASSWORD=$(cat "$POSTGRES_PWD_FILE")
export SQL_PASSWORD

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
