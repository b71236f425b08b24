// One story, told on the embedded API server and on a real one: what an earlier release left behind in a cluster, and this
// one takes over.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '#hosts/config/read-config.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { textOfOutcome } from '#reconciler/report/text.ts';
import { PART_OF } from '#reconciler/run/labels.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import { RECORD_VERSION } from '#reconciler/run/records/home-record.ts';
import { clearQuarantine } from '#reconciler/run/records/quarantine.ts';
import { resume } from '#reconciler/run/records/suspension.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { settingsOf } from '../../scripts/release/cluster.ts';
import { HOME } from '../../scripts/release/manifests.ts';
import { eventually, type SuiteServer } from '../cluster/server.ts';
import { type GitServer, startGitServer, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { type Api, connect } from '../recordings/api.ts';
import { definitionsIn, type RecordedRelease, recordedReleases, type Write } from './recorded.ts';

const CURRENT = fileURLToPath(new URL('../../manifests/crds', import.meta.url));
const STORED = 'upgrade-manifests';
const NAMESPACES = [HOME, STORED, 'upgrade-docs', 'upgrade-ops', 'upgrade-platform'];

let server: SuiteServer;
let api: Api;
let git: GitServer;
/** Paths of what the release of before has written. */
let fleetPaths: readonly string[] = [];
const folder = temporaryFolder();

/** `uninstalls`: whether the story has its end, too. */
export function tellOfUpgrades(open: () => Promise<SuiteServer>, uninstalls: boolean): void {
  afterAll(() => folder.remove());
  describe.each(recordedReleases())('from $tag', (release) => {
    beforeAll(async () => {
      server = await open();
      [api, git] = await Promise.all([connect(server.kubeconfig), startGitServer()]);
    });
    afterAll(async () => {
      await Promise.all([api?.close(), git?.close()]);
      await server?.close();
    });
    takeOver(release);
    describe.runIf(uninstalls)('uninstalled', uninstall);
  });
}

function takeOver(release: RecordedRelease): void {
  let repository: TestRepository;
  let before: readonly KubeObject[];

  beforeAll(async () => {
    for (const definition of release.definitions) server.later(idOf(definition));
    for (const name of NAMESPACES) server.later({ apiVersion: 'v1', kind: 'Namespace', name });
    await define(release.definitions);
    for (const name of [HOME, STORED]) await send('PATCH', `/api/v1/namespaces/${name}`, namespaceNamed(name));
    for (const manifest of release.manifests) await send('POST', listPath(manifest, STORED), manifest);
    fleetPaths = await restore(release.writes);
    await workloadsAreReady();
    repository = git.createRepository(`fleet-${release.tag}.git`);
    for (const { commit, files } of release.commits) {
      const given = Object.entries(files).map(([path, text]) => [path, text ?? undefined] as const);
      expect(repository.commit(Object.fromEntries(given))).toBe(commit);
    }
    mkdirSync(join(folder.path, release.tag, 'state'), { recursive: true });
    for (const [name, content] of Object.entries(release.state))
      writeFileSync(join(folder.path, release.tag, 'state', name), JSON.stringify(content));
    before = await objectsOfKinds(kindsOf(release.definitions));
    await define(definitionsIn(CURRENT));
  });

  function use<T>(work: (instance: Instance) => Promise<T>): Promise<T> {
    return withInstance(join(folder.path, release.tag), `fleet-${release.tag}.git`, work);
  }

  test('objects of all kinds are what they were, to the last field', async () => {
    expect(new Set(before.map(({ kind }) => kind))).toEqual(new Set(kindsOf(release.definitions)));
    expect(before.filter(({ status }) => isObject(status) && 'phase' in status)).not.toEqual([]);
    expect(await objectsOfOurKinds()).toEqual(before);
  });

  test('every version that objects are stored in is still served', async () => {
    for (const { metadata } of release.definitions) {
      const { body } = await send('GET', `${DEFINITIONS}/${metadata.name}`);
      const { spec, status } = body as { spec: { versions: JsonObject[] }; status: { storedVersions: string[] } };
      const served = spec.versions.filter((version) => version.served === true).map(({ name }) => name);
      expect([metadata.name, served]).toEqual([metadata.name, expect.arrayContaining(status.storedVersions)]);
    }
  });

  test('every object can be written again, and is the same', async () => {
    for (const object of before) {
      const { metadata } = object;
      const path = `${listPath(object, metadata.namespace ?? '')}/${metadata.name}`;
      const { body } = await send('PUT', path, object);
      expect(body).toEqual(object);
    }
  });

  test('a suspended instance stays suspended, by the same word', async () => {
    const result = await use((instance) => instance.run());
    expect(result.paused).toMatchObject({ by: 'suspension', reason: 'an upgrade', who: 'operator@example.com' });
    expect(pending(result).filter((change) => !isOfThisRelease(change))).toEqual([]);
  });

  test('the first run changes what this release makes another way and nothing else, at the commit that was gone back to', async () => {
    const was = await versionsOf(fleetPaths);
    const resources = await objectsOfOurKinds();
    const result = await use(async (instance) => {
      await resume(instance.deps, instance.options());
      return instance.run();
    });
    expect(pending(result).filter((change) => !isOfThisRelease(change))).toEqual([]);
    expect(new Set(result.outcomes.map(({ action }) => action))).toEqual(new Set(['created', 'configured']));
    expect(result.commits.fleet).toBe(release.commits[1]?.commit);
    expect(result.quarantined).toMatchObject([{ source: 'fleet', bad: release.commits[2]?.commit }]);
    const changed = differing(was, await versionsOf(fleetPaths)).filter((path) => !isOurKind(path));
    expect(changed.filter((path) => !isOfAProxy(path))).toEqual([]);
    // Without nodes nothing is ready there, which statuses say by now.
    if (!server.isReal) expect(withoutTexts(await objectsOfOurKinds())).toEqual(withoutTexts(resources));
    const again = await use((instance) => instance.run());
    expect([pending(again), again.outcomes.map(textOfOutcome)]).toEqual([[], []]);
  });

  test('the history goes on', async () => {
    const ids = (await use((instance) => instance.history.latest(100))).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...release.runs]));
  });

  test('a record that a newer release has written another way stops a run, in words, before it writes anything', async () => {
    const path = `/api/v1/namespaces/${HOME}/configmaps/skep-fleet-quarantine`;
    const { body } = await send('GET', path);
    const stored = body as unknown as KubeObject;
    const annotations = { [RECORD_VERSION]: '2' };
    await send('PUT', path, withoutPast({ ...stored, metadata: { ...stored.metadata, annotations } }));
    const was = await versionsOf(fleetPaths);
    await expect(use((instance) => instance.run())).rejects.toMatchObject({ code: 'record-of-newer-release' });
    expect(differing(was, await versionsOf(fleetPaths))).toEqual([]);
    await send('PUT', path, withoutPast(stored));
  });

  test('a deletion that was approved and begun waits for what this release added to it, and is finished then', async () => {
    const { plan, outcomes } = await use(async (instance) => {
      await clearQuarantine(instance.deps.cluster, instance.options(), []);
      const waiting = await instance.run();
      expect(waiting.outcomes).toEqual([]);
      expect(waiting.plan.waiting.flatMap(({ deletions }) => deletions.map(({ id }) => id))).toContain(
        'upgrade-docs/Secret/almanac-wiki-session-keys',
      );
      await approve(instance.deps, instance.options(), waiting.plan.waiting[0]?.hash ?? '', 1);
      return instance.run();
    });
    expect(plan.waiting).toEqual([]);
    const lines = outcomes.map(textOfOutcome);
    expect(lines).toContain('upgrade-docs/MCPServer/almanac-wiki deleted');
    expect(lines.filter((line) => !/almanac-wiki\S* deleted$/.test(line))).toEqual([]);
  });
}

/**
 * The commands of docs/upgrade.md, after the last test that needs the fleet. Only where there is a garbage collector, and
 * kubectl.
 */
function uninstall(): void {
  const kept = ['/api/v1/namespaces/upgrade-docs', '/api/v1/namespaces/upgrade-docs/secrets/key'];

  test('the reconciler is taken away, and nothing else', async () => {
    shell('kubectl apply --server-side -k manifests/install');
    const was = await versionsOf(fleetPaths);
    const before = [...was.values()].filter((version) => version !== undefined).length;
    expect(before).toBeGreaterThan(100);
    for (const block of commandsUnder('### The reconciler')) shell(block);
    expect(differing(was, await versionsOf(fleetPaths))).toEqual([]);
    expect(shell(`${LEFT} -o name`).trim().split('\n')).toEqual(['namespace/skep']);
    for (const { plural } of KINDS) await send('GET', `${DEFINITIONS}/${plural}.toolhive.stacklok.dev`);
  });

  test('everything else goes with the definitions, but for what Git declared beside our kinds', async () => {
    const [definitions = '', inNamespaces = '', marks = ''] = commandsUnder('### Everything');
    shell(definitions);
    await eventually(
      async () =>
        [...(await versionsOf(fleetPaths))].filter(([, version]) => version !== undefined).map(([path]) => path),
      (paths) => paths.every((path) => path.startsWith(`/api/v1/namespaces/${HOME}`) || isDeclared(path)),
    );
    for (const path of kept) await send('GET', path);
    expect(shell('kubectl get crds -o name')).not.toContain('toolhive.stacklok.dev');
    shell(inNamespaces);
    shell(marks);
    for (const path of kept) {
      const { labels, annotations } = ((await send('GET', path)).body as unknown as KubeObject).metadata;
      const names = Object.keys({ ...labels, ...annotations });
      expect(names.filter((name) => name === PART_OF || name.startsWith('skep.dev/'))).toEqual([]);
    }
  });
}

/** What the fleet has that is of no kind of ours, nor made by one. */
function isDeclared(path: string): boolean {
  return /^\/api\/v1\/namespaces\/upgrade-(\w+$|docs\/secrets\/key$|platform\/configmaps\/servers$)/.test(path);
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT =
  'kubectl get --all-namespaces -l app.kubernetes.io/name=skep namespaces,deployments,services,networkpolicies,configmaps,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings';

function shell(text: string): string {
  const env = { ...process.env, KUBECONFIG: server.kubeconfig };
  return execFileSync('sh', ['-euc', text], { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Blocks of commands in a section of docs/upgrade.md. */
function commandsUnder(heading: string): readonly string[] {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/upgrade.md'), 'utf8').split(`${heading}\n`);
  const [own = ''] = section.split('\n#');
  return [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function idOf({ apiVersion, kind, metadata }: KubeObject) {
  return { apiVersion, kind, name: metadata.name };
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** As docs/upgrade.md says it: by server-side apply. Resolves when the server serves what was applied. */
async function define(definitions: readonly KubeObject[]): Promise<void> {
  for (const definition of definitions) await send('PATCH', `${DEFINITIONS}/${definition.metadata.name}`, definition);
  for (const kind of kindsOf(definitions)) {
    await eventually(
      () => call('GET', listPath({ apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind }, 'default')),
      ({ status }) => status === 200,
    );
  }
}

function kindsOf(definitions: readonly KubeObject[]): readonly string[] {
  const names = new Set(definitions.map(({ metadata }) => metadata.name));
  return KINDS.filter(({ plural }) => names.has(`${plural}.toolhive.stacklok.dev`)).map(({ kind }) => kind);
}

function listPath({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>, namespace: string): string {
  const plural = KINDS.find((each) => each.kind === kind)?.plural;
  return `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
}

const CONTENT_TYPES = { PATCH: 'application/apply-patch+yaml', POST: 'application/json', PUT: 'application/json' };

async function call(method: 'GET' | Write['method'], url: string, body?: object) {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const apply: Record<string, string> =
    method === 'PATCH' && !searchParams.has('fieldManager') ? { fieldManager: 'kubectl', force: 'true' } : {};
  const query = { ...apply, ...Object.fromEntries(searchParams) };
  if (method === 'GET') return api.call({ method, path: pathname, query });
  return api.call({ method, path: pathname, query, contentType: CONTENT_TYPES[method], body: JSON.stringify(body) });
}

async function send(method: 'GET' | Write['method'], url: string, body?: object) {
  const answer = await call(method, url, body);
  expect([answer.status, method, url, answer.body], JSON.stringify(answer.body)).toEqual([
    expect.toSatisfy((status) => status === 200 || status === 201),
    method,
    url,
    expect.anything(),
  ]);
  return answer;
}

/** Does again what the earlier release did; uids are others now. Gives the paths of the objects. */
async function restore(writes: readonly Write[]): Promise<readonly string[]> {
  const uids = new Map<string, string>();
  const paths = new Set<string>();
  for (const { method, url, body, uid } of writes) {
    const text = JSON.stringify(body).replaceAll(UID, (old) => uids.get(old) ?? old);
    const object = withoutPast(JSON.parse(text.replace(/"expiresAt":"[^"]+"/, BEGUN)));
    const { pathname, search } = new URL(url, 'https://server');
    const path = method === 'POST' ? `${pathname}/${body.metadata.name}` : pathname;
    const isNew = method === 'PUT' && (await call('GET', path)).status === 404;
    const made = isNew
      ? await send('POST', `${path.slice(0, path.lastIndexOf('/'))}${search}`, object)
      : await send(method, url, object);
    uids.set(uid, (made.body as unknown as KubeObject).metadata.uid ?? '');
    paths.add(path.replace(/\/status$/, ''));
  }
  return [...paths];
}

/** The approval as a run has it that was killed while it deleted: it knows by their uids what it may delete. */
const BEGUN = '"expiresAt":"2999-01-01T00:00:00Z","begunAt":"2026-01-01T00:00:00Z"';
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function withoutPast({ metadata, ...rest }: KubeObject): KubeObject {
  const { uid: _u, resourceVersion: _r, creationTimestamp: _c, managedFields: _m, ...kept } = metadata;
  return { ...rest, metadata: kept } as KubeObject;
}

function objectsOfOurKinds(): Promise<readonly KubeObject[]> {
  return objectsOfKinds(KINDS.map(({ kind }) => kind));
}

async function objectsOfKinds(kinds: readonly string[]): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(
    KINDS.filter(({ kind }) => kinds.includes(kind)).map(async ({ kind, plural }) => {
      const apiVersion = 'toolhive.stacklok.dev/v1alpha1';
      const { body } = await send('GET', `/apis/${apiVersion}/${plural}`);
      return (body as { items: JsonObject[] }).items.map((item) => ({ ...item, apiVersion, kind }));
    }),
  );
  return lists.flat() as unknown as readonly KubeObject[];
}

/**
 * The words of a release are its own. Nor is there a database, which the status of the registry says since, or a proxy of this
 * release before it has made one; and since this release virtual servers say whose tokens of the cluster they accept.
 */
function withoutTexts(resources: readonly KubeObject[]): readonly unknown[] {
  const others = resources.filter(({ kind }) => !['MCPRegistry', 'MCPServer', 'MCPRemoteProxy'].includes(kind));
  const dropped = (key: string) => ['message', 'resourceVersion', 'managedFields'].includes(key);
  const isNew = (value: Json) => isObject(value) && value.type === 'ServiceAccountTokensAccepted';
  return JSON.parse(
    JSON.stringify(others, (key, value) => {
      if (dropped(key)) return undefined;
      return Array.isArray(value) ? value.filter((item) => !isNew(item)) : value;
    }),
  );
}

/** Of the embedded server: a real one without nodes has none that get ready. */
async function workloadsAreReady(): Promise<void> {
  if (server.isReal) return;
  for (const plural of ['deployments', 'statefulsets']) {
    await eventually(
      async () => (await send('GET', `/apis/apps/v1/${plural}`)).body as { items: JsonObject[] },
      ({ items }) => items.every(({ status }) => isObject(status) && (status.readyReplicas ?? 0) !== 0),
    );
  }
}

/** resourceVersions by path; whoever runs takes the Lease, and writes the history. */
async function versionsOf(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const kept = paths.filter((path) => !/\/leases\/|-(history|suspension)$/.test(path));
  const versions = kept.map(async (path) => {
    const { status, body } = await call('GET', path);
    return [path, status === 200 ? (body as unknown as KubeObject).metadata.resourceVersion : undefined] as const;
  });
  return new Map(await Promise.all(versions));
}

function differing(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] {
  return [...after].filter(([path, version]) => before.get(path) !== version).map(([path]) => path);
}

function isOurKind(path: string): boolean {
  return path.startsWith('/apis/toolhive.stacklok.dev/');
}

/**
 * The first release with `skep proxy`: its configuration, its keys, its pods, and budgets where there are several. The file of
 * a virtual server names the audience of its tokens, and whether the API server issues them.
 */
function isOfThisRelease(change: string): boolean {
  return /^(update \/ConfigMap\/\S+-(runconfig|vmcp-config|registry-server-config)|update \/Secret\/\S+-hmac-secret|create \/Secret\/\S+-session-keys|update apps\/Deployment\/\S+|create policy\/PodDisruptionBudget\/\S+)$/.test(
    change,
  );
}

/** What of that lived before, the statuses that follow from it, and the record of which kinds there are. */
function isOfAProxy(path: string): boolean {
  return /\/(configmaps\/([^/]+-(runconfig|vmcp-config|registry-server-config)|skep-fleet)|secrets\/[^/]+-hmac-secret|deployments\/[^/]+|mcp(servers|remoteproxies)\/[^/]+)$/.test(
    path,
  );
}

function pending({ plan }: RunResult): readonly string[] {
  return plan.batches.flatMap(({ changes }) => changes).map(({ action, key }) => `${action} ${key}`);
}

/** An instance of this release, with the configuration and the state folder of the one before. */
async function withInstance<T>(dir: string, name: string, work: (instance: Instance) => Promise<T>): Promise<T> {
  const kubeconfig = join(dir, 'kubeconfig');
  const access = parse(readFileSync(server.kubeconfig, 'utf8'));
  for (const { context } of access.contexts) context.namespace = HOME;
  writeFileSync(kubeconfig, JSON.stringify(access), { mode: 0o600 });
  const settings = settingsOf({ git, kubeconfig });
  const sources = [{ name: 'fleet', repository: `${git.url}/${name}`, branch: 'main', path: 'cluster' }];
  const apply = { maxDeletes: 0, maxDeletesPercent: 100, waitSeconds: server.isReal ? 0 : 30 };
  const text = JSON.stringify({ ...settings, sources, apply, stateDir: join(dir, 'state') });
  const instance = await openInstance(readConfig({ text, file: 'skep.yaml', environment: {} }), () => undefined);
  try {
    return await work(instance);
  } finally {
    await instance.close();
  }
}
