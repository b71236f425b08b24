// A PostgreSQL of the suite in a namespace of its fleet, with the users and the database that manifests/install/postgres creates.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { IMAGES } from './images.ts';
import { FOLDER, kubectl } from './place.ts';

const USERS = fileURLToPath(new URL('../../manifests/install/postgres/users.sh', import.meta.url));
const PASSWORD = 'of-this-suite';
const LABELS = { app: 'postgres' };

/** Starts the database. Returns `catalogue` of skep.yaml; the namespace has the Secret that services of MCPRegistries read. */
export function startDatabase(namespace: string): object {
  const host = `postgres.${namespace}.svc.cluster.local`;
  const logins = ['db_app', 'db_migrator'].map((user) => `${host}:5432:registry:${user}:${PASSWORD}\n`);
  const passFile = join(FOLDER, `${namespace}.pgpass`);
  writeFileSync(passFile, logins.join(''), { mode: 0o600 });
  const metadata = { name: 'postgres', namespace };
  const objects = [
    secret(metadata, { postgres: PASSWORD, app: PASSWORD, migrator: PASSWORD }),
    secret({ name: 'catalogue-login', namespace }, { '.pgpass': logins[0] ?? '' }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'users.sh': readFileSync(USERS, 'utf8') } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: LABELS, ports: [{ port: 5432 }] } },
    { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels: LABELS }, spec: POD },
  ];
  for (const object of objects) expect(kubectl(['apply', '-f', '-'], JSON.stringify(object))).toBeDefined();
  const ready = ['-n', namespace, 'wait', '--for=condition=Ready', 'pod/postgres', '--timeout=120s'];
  expect(kubectl(ready)).toBeDefined();
  return { database: { host, passFile, services: { passFileSecret: { name: 'catalogue-login' } } } };
}

function secret(metadata: object, stringData: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
}

const POD = {
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, runAsUser: 999, fsGroup: 999, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'postgres',
      image: IMAGES.postgres,
      env: Object.entries({
        POSTGRES_USER: 'postgres',
        POSTGRES_PASSWORD_FILE: '/secrets/postgres',
        POSTGRES_INITDB_ARGS: '--auth-host=scram-sha-256 --auth-local=scram-sha-256',
        PGDATA: '/var/lib/postgresql/data/pgdata',
      }).map(([name, value]) => ({ name, value })),
      readinessProbe: { exec: { command: ['pg_isready', '--quiet', '--host=127.0.0.1', '--username=postgres'] } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      volumeMounts: [
        { name: 'data', mountPath: '/var/lib/postgresql/data' },
        { name: 'run', mountPath: '/var/run/postgresql' },
        { name: 'secrets', mountPath: '/secrets' },
        { name: 'users', mountPath: '/docker-entrypoint-initdb.d' },
      ],
    },
  ],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'run', emptyDir: {} },
    { name: 'secrets', secret: { secretName: 'postgres' } },
    { name: 'users', configMap: { name: 'postgres', defaultMode: 0o555 } },
  ],
};
