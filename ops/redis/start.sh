#!/bin/sh
# Starts Redis with its password. Every process of the machine can read arguments, so the password comes on standard input.
set -eu

exec redis-server "$@" - <<CONFIG
requirepass ${REDIS_PASSWORD:?}
CONFIG
