// What our kinds become, on the suite's API server: the sample config repository, in namespaces of this test run, is taken
// whole by the first run and left alone by the second, whatever the server and its controllers add.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { PART_OF } from '#reconciler/run/labels.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { readyCondition } from '#reconciler/run/settle/readiness.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { runPods } from '../harness/kubelet.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const SAMPLE = join(import.meta.dirname, '../../manifests/fleet/cluster');

/** What the sample does not show. */
const MORE = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: confined, namespace: docs}
spec:
  image: images.example.com/confined:1.0.0
  transport: streamable-http
  permissionProfile: {type: configmap, name: profiles, key: confined}
  secrets: [{name: confined, key: token}]
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: closed, namespace: docs}
spec:
  image: images.example.com/closed:1.0.0
  permissionProfile: {name: none}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: EmbeddingServer
metadata: {name: cached, namespace: docs}
spec:
  modelCache: {size: 2048Mi}
  resourceOverrides: {persistentVolumeClaim: {labels: {team: docs}}}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: guarded, namespace: docs}
spec:
  image: images.example.com/guarded:1.0.0
  transport: streamable-http
  oidcConfig: {type: inline, inline: {issuer: "https://auth.example.com"}}
  externalAuthConfigRef: {name: login}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata: {name: login, namespace: docs}
spec:
  type: embeddedAuthServer
  embeddedAuthServer:
    issuer: https://auth.example.com
    hmacSecretRefs: [{name: confined, key: hmac}]
    upstreamProviders:
      - name: login
        type: oidc
        oidcConfig: {issuerUrl: "https://login.example.com", clientId: skep, clientSecretRef: {name: confined, key: token}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: profiles, namespace: docs}
data: {confined: '{"network": {"outbound": {"allow_host": ["192.0.2.0/24"], "allow_port": [443]}}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: confined, namespace: docs}
stringData: {token: secret, hmac: a-secret-of-32-bytes-or-even-more}
`;

const madeNamespaces = new Set<string>();
let server: SuiteServer;
let fleet: Fleet;

beforeAll(async () => {
  server = await openServer();
  fleet = await openFleet(server);
});

afterAll(async () => {
  await fleet?.close();
  await server.close();
});

function sampleTexts(): Record<string, string> {
  const files = readdirSync(SAMPLE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  const texts = files.map((path) => [path, moved(readFileSync(join(SAMPLE, path), 'utf8'))]);
  return { ...Object.fromEntries(texts), 'more.yaml': moved(MORE) };
}

/** In the API group and the namespaces of this test run. */
function moved(text: string): string {
  const objects = readDocuments(text, '').map(({ value }) => value);
  return objects.filter(isObject).map(movedObject).join('---\n');
}

function movedObject(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const apiVersion = String(object.apiVersion).replace('toolhive.stacklok.dev', fleet.group);
  const isNamespace = object.kind === 'Namespace';
  const namespace = `${fleet.home}-${isNamespace ? metadata.name : metadata.namespace}`;
  if (isNamespace) server.later({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
  madeNamespaces.add(namespace);
  const place = isNamespace ? { name: namespace } : { namespace };
  return `${JSON.stringify({ ...object, apiVersion, metadata: { ...metadata, ...place } })}\n`;
}

/** The sample's, as they are called here. */
function namespaces(): readonly string[] {
  return [...madeNamespaces].sort();
}

function complaints({ problems, failures, outcomes }: RunResult): readonly string[] {
  return [
    ...problems.filter(({ severity }) => severity === 'error').map(formatProblem),
    ...failures.map(({ message }) => message),
    ...outcomes.flatMap(({ resource, error }) => (error ? `${formatId(resource)}: ${error.message}` : [])),
  ];
}

function changes({ plan }: RunResult): readonly string[] {
  const all = plan.batches.flatMap((batch) => batch.changes);
  return all.map(({ action, resource, diff }) => `${action} ${formatId(resource)} ${JSON.stringify(diff)}`);
}

/** `kind/name: status of Ready, and why`, of every custom resource. */
async function readiness(): Promise<readonly string[]> {
  const kinds = (await fleet.client.resources()).filter(({ apiVersion }) => apiVersion.startsWith(`${fleet.group}/`));
  const lists = await Promise.all(kinds.map((kind) => fleet.client.list(kind)));
  return lists.flat().map(readinessOf).sort();
}

function readinessOf({ kind, metadata, status }: KubeObject): string {
  const ready = isObject(status) ? readyCondition(status) : undefined;
  const why = ready?.status === 'True' ? '' : ` ${ready?.reason}: ${ready?.message}`;
  return `${kind}/${metadata.name}: ${ready?.status}${why}`;
}

/** Versions of all that exists in the fleet's namespaces and is ours: any write is another version. */
async function versions(): Promise<ReadonlyMap<string, string | undefined>> {
  const kinds = (await fleet.client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const lists = await Promise.all(kinds.map((kind) => fleet.client.list(kind)));
  const ours = lists.flat().filter(({ metadata }) => metadata.labels?.[PART_OF] !== undefined);
  const here = ours.filter(({ metadata }) => (metadata.namespace ?? metadata.name).startsWith(fleet.home));
  return new Map(here.map((object) => [formatId(idOf(object)), object.metadata.resourceVersion]));
}

test('children are taken, and then left alone', async () => {
  fleet.git.commit(sampleTexts());
  expect(complaints(await fleet.run())).toEqual([]);
  const again = await fleet.run();
  expect(changes(again)).toEqual([]);
  expect(again.outcomes).toEqual([]);
});

test('all of every kind become ready, and then nothing is written', async () => {
  const kubelet = await server.client('kubelet');
  const ready = await eventually(
    async () => {
      await runPods(kubelet, namespaces());
      await fleet.run();
      return readiness();
    },
    (all) => all.every((each) => each.endsWith(': True')),
  );
  expect(new Set(ready.map((each) => each.split('/')[0]))).toEqual(new Set(KINDS.map(({ kind }) => kind)));
  const before = await versions();
  const again = await fleet.run();
  expect(again.outcomes).toEqual([]);
  expect(await versions()).toEqual(before);
});

test('a cache that cannot change costs nothing', async () => {
  fleet.git.commit({ 'more.yaml': moved(MORE.replace('2048Mi', '4Gi').replace('team: docs', 'team: ops')) });
  const result = await fleet.run();
  expect(complaints(result)).toEqual([]);
  expect(result.outcomes.map(({ action, resource }) => `${action} ${resource.kind}`)).toEqual([
    'configured EmbeddingServer',
  ]);
  expect(changes(await fleet.run())).toEqual([]);
});
