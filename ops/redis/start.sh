#!/bin/sh
# Starts Redis with its password. Every process of the machine can read arguments, so the password comes on standard input.
set -eu

password=$(cat "$REDIS_PASSWORD_FILE")
exec redis-server "$@" - <<CONFIG
requirepass ${password:?}
CONFIG
