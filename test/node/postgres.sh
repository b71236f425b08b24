#!/bin/sh
# Serves PostgreSQL by the environment that manifests/install/postgres sets: the first start creates the databases and runs the
# scripts of /docker-entrypoint-initdb.d.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The options are separate words.
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
