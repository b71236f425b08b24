// The recorded answers to policies, asked of an API server again (docs/testing.md): every construct, every expression and
// every fixture of the built-in pack. The embedded server is not asked: it enforces no policies.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { JsonObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { constructs, DEFINITION, GROUP, POLICY_API } from '../policies/construct.ts';
import { loaded, PACK_FILES, packFixtures, said } from '../policies/pack.ts';
import { type Api, connect } from '../recordings/api.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const POLICIES = `/apis/${POLICY_API}/validatingadmissionpolicies`;
const BINDINGS = `/apis/${POLICY_API}/validatingadmissionpolicybindings`;
const CRDS = join(import.meta.dirname, '../../manifests/crds');
const PLURALS: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};
const EXPRESSIONS: { object: JsonObject; results: [expression: string, result: string][] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../policies/expressions.json'), 'utf8'),
);

describe.skipIf((process.env.KUBECONFIG ?? '') === '')('an API server', () => {
  let server: SuiteServer;
  let api: Api;
  let client: ConnectedCluster;
  const prefix = `policies-${Date.now().toString(36)}`;
  const cases = constructs(prefix);
  /** Paths of what was made. */
  const kept: string[] = [];

  async function post(path: string, body: object, dry = false): Promise<{ status: number; message: string }> {
    const query: Record<string, string> = dry ? { dryRun: 'All' } : {};
    const { status, body: said } = await api.call({
      method: 'POST',
      path,
      query,
      contentType: 'application/json',
      body: JSON.stringify(body),
    });
    const message = typeof said === 'object' && said !== null && 'message' in said ? String(said.message) : '';
    return { status, message };
  }

  /** Cluster-scoped, and deleted with the suite. */
  async function keep(path: string, object: KubeObject): Promise<number> {
    const { kind, metadata } = object;
    const { status, message } = await post(path, object);
    if (status < 300) kept.push(`${path}/${metadata.name}`);
    else if (status !== 422) throw new Error(`${kind} ${metadata.name}: ${status} ${message}`);
    return status;
  }

  async function probe(object: KubeObject): Promise<string> {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
    return answerOf(await post(`${root}${place}/${plural}`, object, true));
  }

  async function ask(object: KubeObject): Promise<{ denied: string | undefined; warned: string[] }> {
    const { apiVersion, kind, metadata } = object;
    const plural = KINDS.find((each) => each.kind === kind)?.plural ?? `${kind.toLowerCase()}s`;
    const { headers, body } = await api.call({
      method: 'POST',
      path: `/apis/${apiVersion}/namespaces/${metadata.namespace}/${plural}`,
      query: { dryRun: 'All' },
      contentType: 'application/json',
      body: JSON.stringify(object),
    });
    const text = typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : '';
    const [, policy, said] = /AdmissionPolicy '([^']*)' with binding '[^']*' denied request: (.*)$/s.exec(text) ?? [];
    const warnings = [...(headers.warning ?? '').matchAll(/AdmissionPolicy '([^']*)' with binding '[^']*': ([^"]*)"/g)];
    return {
      denied: policy === undefined ? undefined : `deny ${policy}: ${said}`,
      warned: warnings.map(([, name, message]) => `warn ${name}: ${message}`).sort(),
    };
  }

  /** A policy that denies everything in its namespace: when it does, the server knows all that came before it. */
  async function untilKnown(): Promise<void> {
    const id = `${prefix}-last`;
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const spec = {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: 'false', message: 'known' }],
    };
    const metadata = { name: id };
    const inside = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': id } } };
    const bound = { policyName: id, validationActions: ['Deny'], matchResources: inside };
    await keep('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    await keep(POLICIES, { apiVersion: POLICY_API, kind: 'ValidatingAdmissionPolicy', metadata, spec });
    await keep(BINDINGS, { apiVersion: POLICY_API, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: bound });
    const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe', namespace: id } };
    await eventually(
      () => probe(object),
      (answer) => answer === 'denied: known',
    );
  }

  beforeAll(async () => {
    server = await openServer();
    api = await connect(server.kubeconfig);
    client = await server.client('policies');
    await client.apply(DEFINITION as unknown as KubeObject, { force: true });
    server.later({ apiVersion: DEFINITION.apiVersion, kind: DEFINITION.kind, name: DEFINITION.metadata.name });
    await eventually(
      () => api.call({ method: 'GET', path: `/apis/${GROUP}/v1/things`, query: {} }),
      ({ status }) => status === 200,
    );
    client.refresh();
  });

  afterAll(async () => {
    // No one waits until so many namespaces are gone: their names are not used again.
    await Promise.all(kept.map((path) => api.call({ method: 'DELETE', path, query: {} })));
    await api.close();
    await server.close();
  });

  test('constructs are answered as recorded', async () => {
    const refused = new Set<string>();
    for (const { id, policy, binding, namespace, objects } of cases) {
      await keep('/api/v1/namespaces', namespace);
      if ((await keep(POLICIES, policy)) === 422 || (await keep(BINDINGS, binding)) === 422) refused.add(id);
      for (const object of objects) await client.apply(object, { force: true });
    }
    await untilKnown();
    const answers: string[] = [];
    for (const { id, name, probe: object } of cases) {
      answers.push(`${name}: ${refused.has(id) ? 'refused' : await probe(object)}`);
    }
    expect(answers).toEqual(cases.map(({ name, server: answer }) => `${name}: ${answer}`));
  }, 300_000);

  test('fixtures of the pack are answered as offline', async () => {
    for (const file of readdirSync(CRDS).filter((name) => name.endsWith('.yaml')))
      await client.apply(parsed(readFileSync(join(CRDS, file), 'utf8')), { force: true });
    client.refresh();
    const parameters: KubeObject[] = [];
    for (const { text } of PACK_FILES) {
      for (const { value } of readDocuments(text, 'pack')) {
        const object = value as unknown as KubeObject;
        if (object.kind === 'ConfigMap') parameters.push(object);
        else if (object.kind === 'Namespace') await client.apply(object, { force: true });
        else await keep(object.kind === 'ValidatingAdmissionPolicy' ? POLICIES : BINDINGS, object);
      }
    }
    for (const object of parameters) await client.apply(object, { force: true });
    const wrong: string[] = [];
    for (const [index, fixture] of packFixtures().entries()) {
      const namespace = `${prefix}-pack-${index}`;
      const own = { path: fixture.path, text: fixture.text.replaceAll(/\bteam$/gm, namespace) };
      const around = loaded(own).map(({ object }) => object);
      for (const object of around.filter(({ kind }) => kind === 'Namespace')) await keep('/api/v1/namespaces', object);
      const replaced = around.filter(({ kind }) => kind === 'ConfigMap');
      for (const object of replaced) await client.apply(object, { force: true });
      for (const { resource, results } of said(own)) {
        const expected = results.filter((result) => !result.startsWith('audit '));
        const fits = ({ denied, warned }: Awaited<ReturnType<typeof ask>>): boolean =>
          (denied === undefined ? !expected.some((result) => result.startsWith('deny ')) : expected.includes(denied)) &&
          JSON.stringify(warned) === JSON.stringify(expected.filter((result) => result.startsWith('warn ')));
        // Policies, namespaces and parameters reach the server's memory a moment after they are stored.
        const answer = await eventually(() => ask(resource.object), fits).catch(() => ask(resource.object));
        if (!fits(answer)) wrong.push(`${fixture.path}: ${JSON.stringify(answer)} instead of ${expected.join(' | ')}`);
      }
      if (replaced.length > 0) for (const object of parameters) await client.apply(object, { force: true });
    }
    expect(wrong).toEqual([]);
  }, 600_000);

  test('expressions are answered as recorded', async () => {
    const id = `${prefix}-expressions`;
    const rules = [{ apiGroups: [GROUP], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }];
    const policy = (name: string, validations: JsonObject[]): KubeObject => ({
      apiVersion: POLICY_API,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: { resourceRules: rules }, validations },
    });
    const taken: [index: number, expression: string][] = [];
    for (const [index, [expression]] of EXPRESSIONS.results.entries()) {
      const { status } = await post(POLICIES, policy(`${id}-${index}`, [{ expression }]), true);
      if (status === 201) taken.push([index, expression]);
    }
    const guarded = taken.map(([index, expression]) => ({
      expression: `object.metadata.name != 'row-${index}' || (${expression})`,
      message: 'no',
    }));
    await keep('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: id, labels: { team: 'blue' } },
    });
    await keep(POLICIES, policy(id, guarded));
    const inside = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': id } } };
    await keep(BINDINGS, {
      apiVersion: POLICY_API,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: id },
      spec: { policyName: id, validationActions: ['Deny'], matchResources: inside },
    });
    const row = (index: number): KubeObject => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Thing',
      metadata: { name: `row-${index}`, namespace: id, labels: { app: 'probe' } },
      spec: EXPRESSIONS.object,
    });
    const firstFalse = EXPRESSIONS.results.findIndex(([, result]) => result === 'false');
    await eventually(
      () => probe(row(firstFalse)),
      (answer) => answer === 'denied: no',
    );
    const answers = new Map<string, string>();
    for (const [index, expression] of taken) answers.set(expression, await probe(row(index)));
    const words: Readonly<Record<string, string>> = { admitted: 'true', 'denied: no': 'false' };
    const said = EXPRESSIONS.results.map(([expression]) => {
      const answer = answers.get(expression) ?? 'refused';
      return [expression, words[answer] ?? answer];
    });
    expect(said).toEqual(EXPRESSIONS.results);
  }, 300_000);
});

function parsed(text: string): KubeObject {
  return readDocuments(text, 'definition')[0]?.value as unknown as KubeObject;
}

function answerOf({ status, message }: { status: number; message: string }): string {
  if (status === 201) return 'admitted';
  if (/not yet synced|not known/.test(message)) return `500 ${message}`;
  if (/resulted in error|failed to configure binding/.test(message)) return 'error';
  const [, said] = /denied request: (.*)$/s.exec(message) ?? [];
  return said === undefined ? `${status} ${message}` : `denied: ${said}`;
}
