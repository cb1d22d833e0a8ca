#!/bin/sh
# Starts Temporal's server with its password from a file: its image reads variables only, and `docker inspect` shows those of a container.
set -eu

POSTGRES_PWD=$(cat "$POSTGRES_PWD_FILE")
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
