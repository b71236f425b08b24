#!/bin/sh
# Run once, by the image, when the volume is empty: the database, who owns it, and who gets rights on rows from `skep migrate`.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\set migrator `cat /secrets/migrator`
\set app `cat /secrets/app`
create role db_migrator login password :'migrator';
create role db_app login password :'app';
create database registry owner db_migrator;
revoke all on database registry from public;
grant connect on database registry to db_app;
SQL
