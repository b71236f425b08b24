// An MCPRegistry whose settings are in `configYAML`: a run reads its sources and migrates its database with the password file,
// and the registry service serves them by the configuration that the run has rendered.

import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder, settingsOf } from '../../harness/instance.ts';
import { type Running, startSkep } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;
let database: TestDatabase;
let instance: InstanceFolder;
let files: Server;
let service: Running | undefined;

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase('empty')]);
  instance = instanceFolder(world);
  files = createServer((_request, response) => response.end(servers('published')));
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  service?.kill('SIGKILL');
  instance.remove();
  files.close();
  await Promise.all([world.close(), database.drop()]);
});

function servers(name: string): string {
  return JSON.stringify({ servers: { [name]: { description: `The ${name}`, image: `${name}:1` } } });
}

/** `format: toolhive`, so that the texts above are short. */
function manifests(): string {
  const { app, migrator } = database;
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/registry.json`;
  return `apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPRegistry
metadata: {name: catalogue, namespace: default}
spec:
  configYAML: |
    sources:
      - name: mounted
        format: toolhive
        file: {path: /data/files/servers.json}
      - name: cloned
        format: toolhive
        git:
          repository: ${world.git.url}/fleet.git
          path: data/registry.json
          auth: {username: bot, passwordFile: /secrets/git/token}
        filter: {names: {exclude: ["*/hidden"]}}
      - name: published
        format: toolhive
        file: {url: "${url}", timeout: 5s}
        syncPolicy: {interval: 1h}
      - name: running
        kubernetes: {}
    registries:
      - {name: files, sources: [mounted]}
      - {name: git, sources: [cloned]}
      - {name: web, sources: [published]}
      - {name: fleet, sources: [running]}
    database: ${JSON.stringify(databaseSettings(database))}
    auth:
      mode: anonymous
  volumes:
    - {name: files, configMap: {name: data}}
    - {name: git, secret: {secretName: git-login, items: [{key: password, path: token}]}}
  volumeMounts:
    - {name: files, mountPath: /data/files}
    - {name: git, mountPath: /secrets/git}
  pgpassSecretRef: {name: pgpass, key: .pgpass}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: data, namespace: default}
data: {servers.json: '${servers('mounted')}'}
---
apiVersion: v1
kind: Secret
metadata: {name: git-login, namespace: default}
stringData: {password: secret}
---
apiVersion: v1
kind: Secret
metadata: {name: pgpass, namespace: default}
stringData:
  .pgpass: |
    *:*:*:${app.user}:${app.password}
    *:*:*:${migrator.user}:${migrator.password}
`;
}

test('its sources are synced into its database, and its service serves them', async () => {
  const cloned = JSON.stringify({
    servers: Object.fromEntries(
      ['cloned', 'hidden'].map((name) => [name, { description: name, image: `images.example.com/${name}:1` }]),
    ),
  });
  world.fleet.commit({ 'cluster/registry.yaml': manifests(), 'data/registry.json': cloned });
  const sync = await instance.run('sync');
  expect(sync.stderr).toBe('');
  for (const [name, count] of [
    ['files', '1 server'],
    ['git', '1 server'],
    ['web', '1 server'],
  ])
    expect(sync.stdout).toContain(`registry default/catalogue/${name}: synced, ${count}`);
  const path = '/api/v1/namespaces/default/configmaps/catalogue-registry-server-config';
  const { body } = await world.cluster.send('GET', path);
  const { data } = body as { data: { 'config.yaml': string } };
  writeFileSync(join(instance.dir, 'config.yaml'), data['config.yaml']);
  const passFile = join(instance.dir, 'pgpass');
  settingsOf(database, passFile);
  // In its pod an init container copies the file of the Secret there.
  const env = {
    PGPASSFILE: passFile,
    SKEP_REGISTRY_LISTEN_HOST: '127.0.0.1',
    SKEP_REGISTRY_LISTEN_PORT: '0',
    SKEP_REGISTRY_METRICS_PORT: '0',
  };
  service = startSkep(['serve', '-c', 'config.yaml'], { cwd: instance.dir, env });
  const [, url = ''] = /serving (http:\S+)/.exec(await service.printed('serving http://')) ?? [];
  const served = await Promise.all(['files', 'git', 'web', 'fleet'].map((name) => namesAt(`${url}/${name}`)));
  expect(served).toEqual([[OWN('mounted')], [OWN('cloned')], [OWN('published')], []]);
});

/** Entries of the format `toolhive` are served under its owner. */
const OWN = (name: string) => `io.github.stacklok/${name}`;

async function namesAt(registry: string): Promise<readonly string[]> {
  const response = await fetch(`${registry}/v0.1/servers`);
  const { servers } = (await response.json()) as { servers: readonly { server: { name: string } }[] };
  return servers.map(({ server }) => server.name);
}
