#!/bin/sh
# Serves PostgreSQL with the environment in manifests/install/postgres. The first start creates the database cluster and
# runs the scripts in /docker-entrypoint-initdb.d.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # POSTGRES_INITDB_ARGS contains several arguments.
  # shellcheck disable=SC2086
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata "$PGDATA" --wait --options "-c listen_addresses=''" start
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PGPASSWORD
  for script in /docker-entrypoint-initdb.d/*; do "$script"; done
  unset PGPASSWORD
  pg_ctl --pgdata "$PGDATA" --wait stop
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
