// Defines the tests of a fleet whose objects other managers also change, for the embedded and for a real API server. In
// one file, because all tests share one API server, one namespace and the fleet in it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { textOfOutcome, textOfPlan } from '#reconciler/report/text.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { isObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { type Fleet, openFleet } from '../cluster/fleet.ts';
import { eventually, type SuiteServer } from '../cluster/server.ts';
import { type Api, connect } from '../recordings/api.ts';

let server: SuiteServer;
let fleet: Fleet;
let api: Api;
let namespace: string;

/** `rights` is true if the server authorises requests. */
export function tellOfOthers(open: () => Promise<SuiteServer>, rights: boolean): void {
  beforeAll(async () => {
    server = await open();
    fleet = await openFleet(server);
    api = await connect(server.kubeconfig);
    namespace = await server.namespace('others');
  });

  afterAll(async () => {
    await Promise.all([fleet?.close(), api?.close()]);
    await server.close();
  });

  describe('conflicts', conflicts);
  describe('objects with skep.dev/reconcile: disabled', leftAlone);
  describe('a change that the server refuses', refusals);
  describe('custom resources that another manager has applied', byHand);
  describe.runIf(rights)('the service account of a source', accounts);
}

/** Sends a merge patch as `manager`, as `kubectl edit` and autoscalers do. */
async function write(path: string, manager: string, body: object): Promise<void> {
  const { status, body: answer } = await api.call({
    method: 'PATCH',
    path,
    query: { fieldManager: manager },
    contentType: 'application/merge-patch+json',
    body: JSON.stringify(body),
  });
  expect(status, JSON.stringify(answer)).toBe(200);
}

async function living(kind: string, name: string, apiVersion = 'v1'): Promise<KubeObject> {
  const found = await fleet.client.get({ apiVersion, kind, namespace, name });
  if (found === undefined) throw new Error(`${kind} ${name} does not live`);
  return found;
}

function done({ outcomes }: RunResult): string[] {
  return outcomes.map(textOfOutcome);
}

/** Returns the problems as texts. Replaces the name of the namespace, which differs between servers. */
function shown({ problems }: RunResult): string[] {
  return problems.map((problem) => formatProblem(problem).replaceAll(namespace, 'NS'));
}

function conflicts(): void {
  const REPORT = { conflicts: 'report' } as const;
  const settings = (a: string, b: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ${namespace}}\ndata:\n  a: ${a}\n  b: ${b}\n`;
  const path = () => `/api/v1/namespaces/${namespace}/configmaps/settings`;
  const KEPT =
    'settings.yaml:5:6: warning field-conflict: /data/a stays as field manager "kubectl-edit" has set it, and is not applied: ' +
    'declare its value, or remove the field there, or set apply.conflicts to force (NS/ConfigMap/settings)';

  test('a field that another manager has set stays and is reported; other fields are applied', async () => {
    fleet.git.commit({ 'settings.yaml': settings('ours', 'one') });
    await fleet.run(REPORT);
    await write(path(), 'kubectl-edit', { data: { a: 'theirs' } });
    fleet.git.commit({ 'settings.yaml': settings('ours', 'two') });
    const result = await fleet.run(REPORT);
    expect(done(result)).toEqual([`${namespace}/ConfigMap/settings configured`]);
    expect(shown(result)).toEqual([KEPT]);
    expect([exitCodeOf(result), exitCodeOf(result, true)]).toEqual([0, 2]);
    expect((await living('ConfigMap', 'settings')).data).toEqual({ a: 'theirs', b: 'two' });
  });

  test('while the conflict exists, nothing is written, and each run reports it', async () => {
    const before = await living('ConfigMap', 'settings');
    const result = await fleet.run(REPORT);
    expect(done(result)).toEqual([]);
    expect(result.plan.batches).toEqual([]);
    expect(shown(result)).toEqual([KEPT]);
    expect(exitCodeOf(await fleet.plan(REPORT), true)).toBe(2);
    expect((await living('ConfigMap', 'settings')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('the field is applied again after the other manager has removed it', async () => {
    await write(path(), 'kubectl-edit', { data: { a: null } });
    const result = await fleet.run(REPORT);
    expect(shown(result)).toEqual([]);
    expect((await living('ConfigMap', 'settings')).data).toEqual({ a: 'ours', b: 'two' });
    await write(path(), 'kubectl-edit', { data: { a: 'theirs' } });
    fleet.git.commit({ 'settings.yaml': settings('theirs', 'two') });
    const agreed = await fleet.run(REPORT);
    expect([...shown(agreed), ...done(await fleet.run(REPORT))]).toEqual([]);
  });

  test('with `force`, the default, the field is set back and reported', async () => {
    fleet.git.commit({ 'settings.yaml': settings('ours', 'two') });
    expect(shown(await fleet.run(REPORT))).toEqual([KEPT]);
    const result = await fleet.run();
    expect(done(result)).toEqual([`${namespace}/ConfigMap/settings configured`]);
    expect(shown(result)).toEqual([
      'settings.yaml:5:6: warning field-set-back: /data/a was set to another value by field manager "kubectl-edit", and is ' +
        'set back to the value in Git; to leave it to others, name it in the annotation skep.dev/ignore-fields (NS/ConfigMap/settings)',
    ]);
    expect((await living('ConfigMap', 'settings')).data).toEqual({ a: 'ours', b: 'two' });
    expect(shown(await fleet.run())).toEqual([]);
  });

  test('fields in skep.dev/ignore-fields stay and are not drift; other changed fields are set back', async () => {
    const file = (ignored: string) =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: scaled\n  namespace: ${namespace}\n` +
      `  annotations: {skep.dev/ignore-fields: '${ignored}'}\nspec:\n  replicas: 1\n` +
      `  selector: {matchLabels: {app: scaled}}\n  template:\n    metadata: {labels: {app: scaled}}\n    spec:\n` +
      `      containers: [{name: web, image: 'example.com/web:1'}]\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/scaled`;
    const image = '/spec/template/spec/containers/[name=web]/image';
    fleet.git.commit({ 'scaled.yaml': file('/spec/replicas, /spec/paused') });
    expect(done(await fleet.run())).toContain(`${namespace}/Deployment/scaled created`);
    await write(`${at}/scale`, 'autoscaler', { spec: { replicas: 3 } });
    const containers = [{ name: 'web', image: 'example.com/web:hotfix' }];
    await write(at, 'kubectl-edit', { spec: { template: { spec: { containers } } } });

    const result = await fleet.run();
    const fields = ({ fields: found }: RunResult) =>
      found.map(({ path: field, manager, state }) => [field, manager, state]);
    expect(fields(result)).toEqual([
      ['/spec/replicas', 'autoscaler', 'left'],
      [image, 'kubectl-edit', 'set-back'],
    ]);
    expect(shown(result).map((line) => line.split(' was')[0])).toEqual([
      `scaled.yaml:13:39: warning field-set-back: ${image}`,
    ]);
    expect((await living('Deployment', 'scaled', 'apps/v1')).spec).toMatchObject({
      replicas: 3,
      template: { spec: { containers: [{ image: 'example.com/web:1' }] } },
    });
    const idle = await fleet.run();
    expect([done(idle), shown(idle), exitCodeOf(idle, true)]).toEqual([[], [], 0]);
    expect(fields(idle)).toEqual([['/spec/replicas', 'autoscaler', 'left']]);

    fleet.git.commit({ 'scaled.yaml': file('/spec/strategy') });
    await fleet.run();
    expect((await living('Deployment', 'scaled', 'apps/v1')).spec).toMatchObject({ replicas: 1 });
    fleet.git.commit({ 'scaled.yaml': file('/metadata/name') });
    expect(shown(await fleet.run()).join()).toContain(
      'error ignore-fields-invalid: skep.dev/ignore-fields names "/metadata/name"',
    );
    fleet.git.commit({ 'scaled.yaml': undefined });
    await fleet.run();
  });

  test('a changed key of a list item is set back without a deletion of the object', async () => {
    const service = (ports: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: keyed, namespace: ${namespace}, annotations: {skep.dev/replace: allowed}}\n` +
      `spec: {selector: {app: keyed}, ports: [${ports}]}\n`;
    const at = `/api/v1/namespaces/${namespace}/services/keyed`;
    const portsOf = async () => {
      const { spec } = await living('Service', 'keyed');
      return isObject(spec) && Array.isArray(spec.ports) ? spec.ports.map((port) => isObject(port) && port.port) : [];
    };
    for (const ports of ['{name: http, port: 80}', '{port: 80}']) {
      fleet.git.commit({ 'keyed.yaml': service(ports) });
      await fleet.run();
      const { metadata, spec } = await living('Service', 'keyed');
      const [port] = isObject(spec) && Array.isArray(spec.ports) ? spec.ports : [];
      await write(at, 'kubectl-edit', { spec: { ports: [{ ...(isObject(port) ? port : {}), port: 8080 }] } });
      expect(await portsOf()).toEqual([8080]);
      const result = await fleet.run();
      expect(done(result)).toEqual([`${namespace}/Service/keyed configured`]);
      expect(result.fields.map(({ path: field, manager, state }) => [field, manager, state])).toContainEqual([
        '/spec/ports/[port=8080,protocol=TCP]',
        'kubectl-edit',
        'set-back',
      ]);
      expect(await portsOf()).toEqual([80]);
      expect((await living('Service', 'keyed')).metadata.uid).toBe(metadata.uid);
      expect(done(await fleet.run())).toEqual([]);
    }
    fleet.git.commit({ 'keyed.yaml': undefined });
    await fleet.run();
  });

  test('a field that blocks a declared field is removed, and other fields of other managers stay', async () => {
    const file =
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: filled, namespace: ${namespace}}\nspec:\n` +
      `  selector: {matchLabels: {app: filled}}\n  strategy: {type: Recreate}\n  template:\n    metadata: {labels: {app: filled}}\n` +
      `    spec:\n      containers: [{name: web, image: 'example.com/web:1'}]\n` +
      `      volumes: [{name: data, configMap: {name: data}}, {name: rest, configMap: {name: rest}}]\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/filled`;
    fleet.git.commit({ 'filled.yaml': file });
    await fleet.run();
    await write(at, 'kubectl-edit', { spec: { strategy: { type: 'RollingUpdate' }, minReadySeconds: 5 } });
    const { metadata } = await living('Deployment', 'filled', 'apps/v1');
    const result = await fleet.run();
    expect(done(result)).toEqual([`${namespace}/Deployment/filled configured`]);
    expect(shown(result).map((line) => line.split(' warning ')[1])).toEqual([
      'field-set-back: /spec/strategy/type was set to another value by field manager "kubectl-edit", and is set back to the ' +
        'value in Git; to leave it to others, name it in the annotation skep.dev/ignore-fields (NS/Deployment/filled)',
      'field-set-back: /spec/strategy/rollingUpdate was set by field manager "kubectl-edit", and is removed, because it ' +
        'blocks a field that Git declares (NS/Deployment/filled)',
    ]);
    const { metadata: after, spec } = await living('Deployment', 'filled', 'apps/v1');
    expect([after.uid, spec]).toMatchObject([metadata.uid, { strategy: { type: 'Recreate' }, minReadySeconds: 5 }]);
    expect(spec).not.toMatchObject({ strategy: { rollingUpdate: expect.anything() } });

    // The edit replaces the ConfigMaps of the volumes by empty folders.
    const volumes = ['data', 'rest'].map((name) => ({ name, emptyDir: {} }));
    await write(at, 'kubectl-edit', { spec: { template: { spec: { volumes } } } });
    expect(done(await fleet.run())).toEqual([`${namespace}/Deployment/filled configured`]);
    const { spec: again } = await living('Deployment', 'filled', 'apps/v1');
    expect(JSON.stringify(again)).not.toContain('emptyDir');
    expect(done(await fleet.run())).toEqual([]);
    fleet.git.commit({ 'filled.yaml': undefined });
    await fleet.run();
  });

  test('only fields that block a declared field are removed', async () => {
    const file =
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: probed, namespace: ${namespace}}\nspec:\n` +
      `  selector: {matchLabels: {app: probed}}\n  strategy: {type: Recreate}\n  template:\n    metadata: {labels: {app: probed}}\n    spec:\n` +
      `      containers: [{name: web, image: 'example.com/web:1', readinessProbe: {httpGet: {port: 80}}}]\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/probed`;
    fleet.git.commit({ 'probed.yaml': file });
    await fleet.run();
    const readinessProbe = { tcpSocket: { port: 80 }, initialDelaySeconds: 7 };
    const containers = [
      { name: 'web', image: 'example.com/web:1', readinessProbe },
      { name: 'side', image: 'example.com/side:1' },
    ];
    await write(at, 'kubectl-edit', { spec: { minReadySeconds: 3, template: { spec: { containers } } } });
    const result = await fleet.run();
    expect(done(result)).toEqual([`${namespace}/Deployment/probed configured`]);
    expect(result.fields.map(({ path: field }) => field)).toEqual([
      '/spec/template/spec/containers/[name=web]/readinessProbe/tcpSocket',
    ]);
    const { spec } = await living('Deployment', 'probed', 'apps/v1');
    const probe = { httpGet: { port: 80 }, initialDelaySeconds: 7 };
    const kept = [{ name: 'web', readinessProbe: probe }, { name: 'side' }];
    expect(spec).toMatchObject({ minReadySeconds: 3, template: { spec: { containers: kept } } });
    expect(done(await fleet.run())).toEqual([]);
    fleet.git.commit({ 'probed.yaml': undefined });
    await fleet.run();
  });

  test('a field in skep.dev/ignore-fields is not removed, although it blocks a declared field', async () => {
    const file = (annotations = '') =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: taken, namespace: ${namespace}${annotations}}\nspec:\n` +
      `  selector: {matchLabels: {app: taken}}\n  strategy: {type: Recreate}\n  template:\n    metadata: {labels: {app: taken}}\n` +
      `    spec:\n      containers: [{name: web, image: 'example.com/web:1'}]\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/taken`;
    const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } };
    fleet.git.commit({
      'taken.yaml': file(`, annotations: {skep.dev/ignore-fields: /spec/strategy/rollingUpdate/maxSurge}`),
    });
    await fleet.run();
    await write(at, 'kubectl-edit', { spec: rolling });
    const refused = await fleet.run();
    expect(done(refused).join()).toContain('Deployment/taken failed');
    expect((await living('Deployment', 'taken', 'apps/v1')).spec).toMatchObject(rolling);
    fleet.git.commit({ 'taken.yaml': file() });
    expect(done(await fleet.run())).toEqual([`${namespace}/Deployment/taken configured`]);
    fleet.git.commit({ 'taken.yaml': undefined });
    await fleet.run();
  });

  test('a list item that another manager has added stays', async () => {
    const file =
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: beside, namespace: ${namespace}}\nspec:\n` +
      `  selector: {matchLabels: {app: beside}}\n  template:\n    metadata: {labels: {app: beside}}\n    spec:\n` +
      `      containers: [{name: web, image: 'example.com/web:1', env: [{name: A, value: '1'}]}]\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/beside`;
    const envOf = async () => {
      const text = JSON.stringify((await living('Deployment', 'beside', 'apps/v1')).spec);
      return [...text.matchAll(/"name":"(\w)","value":"(\w)"/g)].map(([, name, value]) => `${name}=${value}`);
    };
    const containers = (env: object[]) => ({
      spec: { template: { spec: { containers: [{ name: 'web', image: 'example.com/web:1', env }] } } },
    });
    fleet.git.commit({ 'beside.yaml': file });
    await fleet.run();
    const [a, b, c] = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
      { name: 'C', value: '1' },
    ];
    await write(at, 'kubectl-edit', containers([a, b]));
    expect(done(await fleet.run())).toEqual([]);
    await write(at, 'kubectl-edit', containers([c, b]));
    expect(done(await fleet.run())).toEqual([`${namespace}/Deployment/beside configured`]);
    expect((await envOf()).sort()).toEqual(['A=1', 'B=2']);
    fleet.git.commit({ 'beside.yaml': undefined });
    await fleet.run();
  });

  test('with `report`, values of other managers stay, in a map and in a list item', async () => {
    const file = (image: string, replicas: number) =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: ${namespace}}\nspec:\n  replicas: ${replicas}\n` +
      `  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n` +
      `      - {name: web, image: '${image}', env: [{name: A, value: '1'}]}\n`;
    const at = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    fleet.git.commit({ 'web.yaml': file('example.com/web:1', 1) });
    await fleet.run(REPORT);
    await write(`${at}/scale`, 'autoscaler', { spec: { replicas: 3 } });
    const containers = [{ name: 'web', image: 'example.com/web:1', env: [{ name: 'A', value: '2' }] }];
    await write(at, 'somebody', { spec: { template: { spec: { containers } } } });
    fleet.git.commit({ 'web.yaml': file('example.com/web:2', 1) });
    const result = await fleet.run(REPORT);
    expect(done(result)).toEqual([`${namespace}/Deployment/web configured`]);
    expect(shown(result).map((line) => line.split(' stays')[0])).toEqual([
      'web.yaml:5:13: warning field-conflict: /spec/replicas',
      'web.yaml:11:72: warning field-conflict: /spec/template/spec/containers/[name=web]/env/[name=A]/value',
    ]);
    const { spec } = await living('Deployment', 'web', 'apps/v1');
    expect(spec).toMatchObject({
      replicas: 3,
      template: { spec: { containers: [{ image: 'example.com/web:2', env: [{ name: 'A', value: '2' }] }] } },
    });
    expect(done(await fleet.run(REPORT))).toEqual([]);
  });
}

function leftAlone(): void {
  const settings = (value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: alone, namespace: ${namespace}}\ndata: {a: ${value}}\n`;
  const serverOf = (version: string, annotations = '') =>
    `apiVersion: ${fleet.group}/v1alpha1\nkind: MCPServer\nmetadata: {name: clock, namespace: ${namespace}${annotations}}\n` +
    `spec: {image: 'registry.example.com/clock:${version}', transport: stdio, proxyPort: 808${version}}\n`;
  const path = () => `/api/v1/namespaces/${namespace}/configmaps/alone`;
  const annotate = (value: string | null) =>
    write(path(), 'kubectl-annotate', { metadata: { annotations: { 'skep.dev/reconcile': value } } });
  const held = ({ plan }: RunResult) => plan.held.map(({ resource, reason }) => `${resource.name}: ${reason}`).sort();
  const versions = async () =>
    Object.fromEntries(
      [...(await fleet.members())].map(([id, { metadata }]) => [id, metadata.generation ?? metadata.resourceVersion]),
    );

  test('an annotated object is neither changed nor deleted', async () => {
    // A second object, because the deletion of all objects of a source would wait for approval.
    const other = settings('one').replace('name: alone', 'name: other');
    fleet.git.commit({
      'settings.yaml': undefined,
      'web.yaml': undefined,
      'alone.yaml': settings('one'),
      'other.yaml': other,
    });
    await fleet.run();
    await annotate('disabled');
    fleet.git.commit({ 'alone.yaml': settings('two') });
    const changed = await fleet.run();
    expect([...done(changed), ...shown(changed), ...held(changed)]).toEqual([
      'alone: it has skep.dev/reconcile: disabled',
    ]);
    fleet.git.commit({ 'alone.yaml': undefined });
    const gone = await fleet.run();
    expect([...done(gone), ...held(gone)]).toEqual(['alone: it has skep.dev/reconcile: disabled']);
    expect((await living('ConfigMap', 'alone')).data).toEqual({ a: 'one' });
    await annotate(null);
    expect(done(await fleet.run())).toEqual([`${namespace}/ConfigMap/alone deleted`]);
  });

  test('the annotation in the manifest keeps the resource, its children and its status unchanged', async () => {
    fleet.git.commit({ 'clock.yaml': serverOf('1') });
    await fleet.run();
    await fleet.run();
    const before = await versions();
    fleet.git.commit({ 'clock.yaml': serverOf('2', ', annotations: {skep.dev/reconcile: disabled}') });
    const result = await fleet.run();
    expect(done(result)).toEqual([]);
    expect(held(result)).toContain('clock: its manifest has skep.dev/reconcile: disabled');
    expect(held(result)).toContain('clock: the children of mcpserver.clock are not changed in this run');
    expect(await versions()).toEqual(before);
    fleet.git.commit({ 'clock.yaml': serverOf('2') });
    expect(done(await fleet.run())).toContain(`${namespace}/Deployment/clock configured`);
  });

  test('an annotated child is not changed, and its owner is still applied', async () => {
    await write(`/apis/apps/v1/namespaces/${namespace}/deployments/clock`, 'kubectl-annotate', {
      metadata: { annotations: { 'skep.dev/reconcile': 'disabled' } },
      spec: { minReadySeconds: 3, template: { metadata: { labels: { theirs: 'yes' } } } },
    });
    const before = (await living('Deployment', 'clock', 'apps/v1')).metadata;
    fleet.git.commit({ 'clock.yaml': serverOf('3') });
    const result = await fleet.run();
    expect(done(result)).toContain(`${namespace}/MCPServer/clock configured`);
    expect(done(result).filter((line) => line.includes('Deployment'))).toEqual([]);
    expect((await living('Deployment', 'clock', 'apps/v1')).metadata.generation).toBe(before.generation);
    fleet.git.commit({ 'clock.yaml': undefined });
    const gone = await fleet.run();
    expect(done(gone)).toEqual([]);
    expect(held(gone)).toContain(`clock: its child ${namespace}/Deployment/clock has skep.dev/reconcile: disabled`);
  });
}

function refusals(): void {
  const web = (app: string, annotations = '') =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api, namespace: ${namespace}${annotations}}\nspec:\n  selector: {matchLabels: {app: ${app}}}\n` +
    `  template:\n    metadata: {labels: {app: ${app}}}\n    spec: {containers: [{name: web, image: 'example.com/web:1'}]}\n`;
  const settings = (value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside, namespace: ${namespace}}\ndata: {a: ${value}}\n`;
  const REPLACE = ', annotations: {skep.dev/replace: allowed}';

  test('is reported before the first write, with the remedy; other changes are applied', async () => {
    fleet.git.commit({ 'api.yaml': web('one'), 'beside.yaml': settings('one') });
    await fleet.run();
    fleet.git.commit({ 'api.yaml': web('two'), 'beside.yaml': settings('two') });
    const { plan } = await fleet.plan();
    const previews = plan.batches.flatMap(({ changes }) =>
      changes.map((change) => `${change.resource.name} ${'preview' in change ? change.preview?.result : ''}`),
    );
    expect(previews).toEqual(['beside accepted', 'api refused']);
    const result = await fleet.run();
    expect(exitCodeOf(result)).toBe(7);
    expect(done(result)).toEqual([
      `${namespace}/ConfigMap/beside configured`,
      expect.stringMatching(
        /Deployment\/api failed: .*immutable.* spec\.selector cannot be changed, only replaced with the whole object: put the annotation skep\.dev\/replace: allowed into its manifest, and it is deleted and created again \[immutable-field\]$/,
      ),
    ]);
  });

  test('leads to a deletion and creation in one run if the manifest allows a replacement', async () => {
    const before = await living('Deployment', 'api', 'apps/v1');
    fleet.git.commit({ 'api.yaml': web('two', REPLACE) });
    expect(textOfPlan(await fleet.plan())).toContain(`-/+ ${namespace}/Deployment/api (deleted and created again)`);
    const result = await fleet.run();
    expect(done(result)).toEqual([`${namespace}/Deployment/api deleted`, `${namespace}/Deployment/api created`]);
    const { metadata, spec } = await living('Deployment', 'api', 'apps/v1');
    expect(metadata.uid).not.toBe(before.metadata.uid);
    expect(spec).toMatchObject({ selector: { matchLabels: { app: 'two' } } });
    expect(done(await fleet.run())).toEqual([]);
  });

  test('counts as a deletion if the object is replaced; beyond the limits it waits for approval', async () => {
    fleet.git.commit({ 'api.yaml': web('three', REPLACE), 'beside.yaml': settings('three') });
    const result = await fleet.run({ limits: { maxDeletes: 0, maxDeletesPercent: 100 } });
    expect(done(result)).toEqual([`${namespace}/ConfigMap/beside configured`]);
    expect(result.plan.waiting.flatMap(({ deletions }) => deletions.map(({ id }) => id))).toEqual([
      `${namespace}/Deployment/api`,
    ]);
    expect(result.plan.held.map(({ reason }) => reason)).toContain('its replacement waits for approval');
  });

  test('does not delete the object if the replacement is invalid', async () => {
    const broken = web('four', REPLACE).replace("'example.com/web:1'", "''");
    fleet.git.commit({ 'api.yaml': broken });
    const result = await fleet.run();
    expect(done(result)).toEqual([expect.stringMatching(/Deployment\/api failed: .*\[cluster-invalid\]$/)]);
    expect((await living('Deployment', 'api', 'apps/v1')).spec).toMatchObject({
      selector: { matchLabels: { app: 'two' } },
    });
  });

  test('is completed by the next run if a run ended between the deletion and the creation', async () => {
    const { metadata } = await living('Deployment', 'api', 'apps/v1');
    await fleet.client.remove(
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'api' },
      metadata.uid ?? '',
    );
    fleet.git.commit({ 'api.yaml': web('five', REPLACE) });
    await eventually(
      () => fleet.run(),
      ({ outcomes }) => outcomes.some(({ action }) => action === 'created'),
    );
    expect((await living('Deployment', 'api', 'apps/v1')).spec).toMatchObject({
      selector: { matchLabels: { app: 'five' } },
    });
  });

  test('of an object whose namespace the same plan creates cannot be found before the run', async () => {
    const name = `${fleet.home}-new`;
    server.later({ apiVersion: 'v1', kind: 'Namespace', name });
    fleet.git.commit({
      'new.yaml': `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n---\n${settings('new').replace(namespace, name)}`,
    });
    expect(textOfPlan(await fleet.plan())).toContain(
      `not checked by the API server (their Namespace does not exist yet): ${name}/ConfigMap/beside`,
    );
    expect(done(await fleet.run())).toEqual([`Namespace/${name} created`, `${name}/ConfigMap/beside created`]);
  });
}

function accounts(): void {
  const settings = (name: string, value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {a: ${value}}\n`;
  const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: {name: denied, namespace: NS}\ndata: {a: b25l}\n';
  const account = () => `system:serviceaccount:${fleet.home}:fleet-sync`;
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };

  /** Lets the reconciler impersonate the account, as in manifests/install/one-team. */
  async function mayActAs(name: string): Promise<void> {
    const metadata = { name: 'skep-team', namespace: fleet.home };
    const rules = [{ apiGroups: [''], resources: ['serviceaccounts'], resourceNames: [name], verbs: ['impersonate'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
    const subjects = [{ kind: 'ServiceAccount', name: 'skep', namespace: fleet.home }];
    await fleet.client.apply({ ...rbac, kind: 'Role', metadata, rules }, { force: true });
    await fleet.client.apply({ ...rbac, kind: 'RoleBinding', metadata, roleRef, subjects }, { force: true });
  }

  test('changes objects for which it has rights; other changes fail, and the error contains its name', async () => {
    const metadata = { name: 'fleet-sync', namespace };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'fleet-sync' };
    const subjects = [{ kind: 'ServiceAccount', name: 'fleet-sync', namespace: fleet.home }];
    await fleet.client.apply({ ...rbac, kind: 'Role', metadata, rules }, { force: true });
    await fleet.client.apply({ ...rbac, kind: 'RoleBinding', metadata, roleRef, subjects }, { force: true });
    await mayActAs('fleet-sync');
    fleet.git.commit({ 'theirs.yaml': settings('theirs', 'one'), 'denied.yaml': SECRET.replace('NS', namespace) });
    const result = await fleet.run({}, account());
    expect(done(result)).toEqual(
      expect.arrayContaining([
        `${namespace}/ConfigMap/theirs created`,
        expect.stringMatching(`Secret/denied failed: .*\\(as ${account()}\\) \\[cluster-forbidden\\]$`),
      ]),
    );
    expect(exitCodeOf(result)).toBe(7);
  });

  test('is also used for deletions', async () => {
    fleet.git.commit({ 'theirs.yaml': undefined, 'denied.yaml': undefined, 'README.md': 'none' });
    const result = await fleet.run({}, account());
    expect(done(result)).toEqual([
      expect.stringMatching(`ConfigMap/theirs failed: .*User "${account()}" cannot delete resource "configmaps"`),
    ]);
    expect(done(await fleet.run())).toEqual([`${namespace}/ConfigMap/theirs deleted`]);
  });
}

function byHand(): void {
  const manifest = (image: string, groupRef?: string) => ({
    apiVersion: `${fleet.group}/v1alpha1`,
    kind: 'MCPServer',
    metadata: { name: 'hand', namespace },
    spec: { image, transport: 'stdio', ...(groupRef === undefined ? {} : { groupRef }) },
  });
  const path = () => `/apis/${fleet.group}/v1alpha1/namespaces/${namespace}/mcpservers/hand`;
  const put = async (object: object) => {
    const query = { fieldManager: 'kubectl', force: 'true' };
    const contentType = 'application/apply-patch+yaml';
    const { status } = await api.call({
      method: 'PATCH',
      path: path(),
      query,
      contentType,
      body: JSON.stringify(object),
    });
    expect([200, 201]).toContain(status);
  };
  const server = () => living('MCPServer', 'hand', `${fleet.group}/v1alpha1`);
  const spared = ({ metadata }: KubeObject) =>
    metadata.managedFields?.filter(({ subresource }) => !subresource).map(({ manager }) => manager);

  test('get children and a status, and are not changed otherwise', async () => {
    fleet.git.commit({ 'README.md': 'by hand' });
    await put(manifest('registry.example.com/hand:1'));
    expect(done(await fleet.run()).filter((line) => line.includes('hand'))).toEqual([]);
    const result = await fleet.run({ scope: 'cluster' });
    expect(done(result)).toContain(`${namespace}/Deployment/hand created`);
    const { metadata, status } = await server();
    expect(status).toMatchObject({ phase: 'Pending' });
    expect([spared(await server()), metadata.labels]).toEqual([['kubectl'], undefined]);
    const child = await living('Deployment', 'hand', 'apps/v1');
    expect(child.metadata.ownerReferences).toMatchObject([{ kind: 'MCPServer', name: 'hand', uid: metadata.uid }]);
    expect(done(await fleet.run({ scope: 'cluster' }))).toEqual([]);
    expect(done(await fleet.run({ scope: 'cluster', namespaces: [fleet.home] }))).toEqual([]);
  });

  test('with a problem get it in their status and keep their children; the run does not fail', async () => {
    await put(manifest('registry.example.com/hand:2', 'none'));
    const result = await fleet.run({ scope: 'cluster' });
    expect([exitCodeOf(result), done(result)]).toEqual([0, []]);
    expect(shown(result).filter((line) => line.includes('hand'))).toEqual([
      'warning reference-missing: no MCPGroup "none" in namespace NS, neither in Git nor in the cluster (NS/MCPServer/hand)',
    ]);
    expect(JSON.stringify((await server()).status)).toContain('GroupRefNotFound');
  });

  test('stay unmanaged after a sync request and after a change by another instance', async () => {
    const trigger = { apiVersion: `${fleet.group}/v1alpha1`, kind: 'MCPServer', metadata: { name: 'hand', namespace } };
    for (const manager of ['skep-pipeline-trigger', 'skep-other-trigger']) {
      const annotations = { [`${manager}/sync-trigger`]: 'now' };
      const body = JSON.stringify({ ...trigger, metadata: { ...trigger.metadata, annotations } });
      const contentType = 'application/apply-patch+yaml';
      await api.call({ method: 'PATCH', path: path(), query: { fieldManager: manager }, contentType, body });
    }
    // The order of the managers depends on the seconds in which they wrote.
    expect(spared(await server())?.toSorted()).toEqual(['kubectl', 'skep-other-trigger', 'skep-pipeline-trigger']);
    const { plan } = await fleet.plan({ scope: 'cluster' });
    expect(plan.batches).toEqual([]);
  });

  test('keep their children if `children: false` leaves children to another operator', async () => {
    const looks = await Promise.all(
      (['git', 'cluster'] as const).map((scope) => fleet.plan({ scope, children: false })),
    );
    expect(looks.map(({ plan }) => plan.batches)).toEqual([[], []]);
    const { plan } = await fleet.plan();
    expect(plan.batches.flatMap(({ changes }) => changes).map(({ action }) => action)).toContain('delete');
  });

  test('are deleted only by their user; the cluster then deletes their children', async () => {
    const { metadata } = await server();
    const id = { apiVersion: `${fleet.group}/v1alpha1`, kind: 'MCPServer', namespace, name: 'hand' };
    await fleet.client.remove(id, metadata.uid ?? '');
    await eventually(
      () => fleet.client.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'hand' }),
      (left) => left === undefined,
    );
    await eventually(
      () => fleet.run({ scope: 'cluster' }),
      ({ plan }) => plan.batches.length === 0,
    );
    expect([...(await fleet.members()).keys()].filter((each) => each.includes('hand'))).toEqual([]);
  });
}
