// The value of a Secret, in the clear in Git or encrypted there, appears nowhere but in Secrets: not in what commands print, not in plan files, logs, history,
// events or any other object, also where the API server quotes it, or a URL holds it. Another output is another row.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { type Fate, type Passing, startProxy, type TestProxy } from '../../harness/proxy.ts';
import { type Receiver, startReceiver } from '../../harness/receiver.ts';
import { skep } from '../../harness/skep.ts';
import { sealed, type TestKey, testKey } from '../../harness/sops.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE, server } from './fleet.ts';

/** With what JSON, URLs, shells and YAML write in other ways. */
const VALUES = ['hunter2 "quoted" \\ & <ü>/+%=?', 'correct-horse\nbattery staple', 'url-password-7f3a'];

/** Every spelling that someone could read it by. */
const SPELLINGS = VALUES.flatMap((value) => {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const texts = [value, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(value), encodeURI(value)];
  return [...texts, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
});

let world: World;
let instance: InstanceFolder;
let proxy: TestProxy;
let receiver: Receiver;
let key: TestKey;
let refuses = false;

beforeAll(async () => {
  [world, key] = await Promise.all([startWorld(), testKey()]);
  [proxy, receiver] = await Promise.all([startProxy(world.cluster, decide), startReceiver()]);
  instance = instanceFolder(world);
  configure();
});

afterAll(async () => {
  instance.remove();
  await Promise.all([proxy.close(), receiver.close()]);
  await world.close();
});

/** As admission plugins and validation do it: the whole object in the message. */
function decide({ method, url, body }: Passing): Fate {
  if (!refuses || method !== 'PATCH' || !/\/secrets\/(?:api|sealed)\?/.test(url)) return 'pass';
  return { status: 422, message: `Secret "api" is invalid: data: Invalid value: ${body} ${SPELLINGS.join(' ')}` };
}

function configure(changes: Readonly<Record<string, unknown>> = {}): void {
  const apply = { maxDeletesPercent: 100, waitSeconds: 0 };
  const secretFile = join(instance.dir, 'webhook-key');
  writeFileSync(secretFile, 'a key of its own', { mode: 0o600 });
  const ageKeyFile = join(instance.dir, 'age-keys');
  writeFileSync(ageKeyFile, key.identity, { mode: 0o600 });
  const repository = `${world.git.url}/fleet.git`;
  const sources = [{ name: 'fleet', repository, branch: 'main', path: 'cluster', decryption: { ageKeyFile } }];
  const chats = (['slack', 'teams'] as const).map((service) => {
    const urlFile = join(instance.dir, `${service}-url`);
    writeFileSync(urlFile, `${receiver.url}/${service}`, { mode: 0o600 });
    return { service, urlFile };
  });
  const notify = { webhooks: [{ url: `${receiver.url}/told`, secretFile }], chats };
  const snapshot = { file: join(instance.dir, 'state.json') };
  instance.configure({ cluster: { kubeconfig: proxy.kubeconfigPath }, apply, notify, snapshot, sources, ...changes });
}

async function commit(value: string, more = '', files: Readonly<Record<string, string>> = {}): Promise<void> {
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: api, namespace: tools}\nstringData:\n  token: ${JSON.stringify(value)}\n${more}`;
  const reader = `${server('clock')}  secrets:\n    - {name: api, key: token, targetEnvName: TOKEN}\n    - {name: sealed, key: token, targetEnvName: SEALED}\n`;
  const encrypted = await sealed({ ...SECRET, metadata: named('sealed'), stringData: { token: value } }, key);
  const all = [NAMESPACE, GROUP, secret, reader].join('---\n');
  world.fleet.commit({ 'cluster/all.yaml': all, 'cluster/sealed.json': encrypted, ...files });
}

const SECRET = { apiVersion: 'v1', kind: 'Secret' };

function named(name: string): { name: string; namespace: string } {
  return { name, namespace: 'tools' };
}

/** Encrypted values that are no valid ones of their fields, and such that stand where they would be shown. */
async function wronglySealed(): Promise<Record<string, string>> {
  const [first = '', second = ''] = VALUES;
  const data = { ...SECRET, metadata: named('bad-data'), data: { bad: second } };
  const labels = { ...SECRET, metadata: { ...named('bad-label'), labels: { tier: first } }, type: second };
  const map = { ...SECRET, kind: 'ConfigMap', metadata: named('bad-map'), data: { bad: first } };
  const env = [{ name: 'TOKEN', value: second }];
  const mcp = {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPServer',
    metadata: named('bad-server'),
    spec: { image: first, transport: second, env },
  };
  return {
    'cluster/bad-data.json': await sealed(data, key),
    'cluster/bad-label.json': await sealed(labels, key, '.'),
    'cluster/bad-map.json': await sealed(map, key),
    'cluster/bad-server.json': await sealed(mcp, key, '^spec$'),
  };
}

async function printed(...args: readonly string[]): Promise<string> {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const { stdout, stderr } = await skep(args, { cwd: instance.dir, env });
  return `${stdout}${stderr}`;
}

/** A server that asks for a password and takes none. */
async function printedOfForbiddenSource(): Promise<string> {
  const listener = createServer((_request, response) => response.writeHead(401).end());
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const { port } = listener.address() as AddressInfo;
  const repository = `http://bot:${encodeURIComponent(VALUES[2] ?? '')}@127.0.0.1:${port}/fleet.git`;
  configure({ sources: [{ name: 'fleet', repository, branch: 'main', path: 'cluster' }] });
  const text = await printed('sync', '-o', 'json');
  configure();
  listener.close();
  return text;
}

async function logged(): Promise<string> {
  configure({ schedule: '* * * * * *', jitterSeconds: 0, http: { address: '127.0.0.1:0' } });
  const running = instance.start('run', '--log-level', 'debug');
  await running.printed('may quote values');
  running.kill('SIGTERM');
  await running.finished;
  configure();
  return running.output();
}

/** Traces go to a path of their own, and all else that is sent is reported to those who asked for it. */
function sent(to: string): string {
  return JSON.stringify(receiver.received.filter(({ path }) => path === to));
}

/** All objects but Secrets, which is where values belong. */
async function living(): Promise<string> {
  const resources = (await world.client.resources()).filter(
    ({ kind, verbs }) => kind !== 'Secret' && verbs.includes('list'),
  );
  const lists = await Promise.all(resources.map((each) => world.client.list(each)));
  const packed = lists.flat().flatMap(({ binaryData }) => Object.values(binaryData ?? {}));
  expect(packed).toEqual([]);
  return JSON.stringify(lists);
}

/** What is looked through, and what shows that it was worth it. */
const OUTPUTS: readonly { readonly of: string; readonly text: () => Promise<string>; readonly shows: string }[] = [
  { of: 'a plan as JSON', text: () => printed('plan', '-o', 'json'), shows: '"name": "api"' },
  { of: 'a plan that says what was encrypted', text: () => printed('plan'), shows: 'tools/Secret/sealed' },
  { of: 'a plan that explains', text: () => printed('plan', '--explain'), shows: 'tools/Secret/api' },
  {
    of: 'a plan as Markdown',
    text: () => printed('plan', '-o', 'markdown', '--out', 'plan.json'),
    shows: 'Secret/api',
  },
  { of: 'a plan file', text: async () => readFileSync(join(instance.dir, 'plan.json'), 'utf8'), shows: '"api"' },
  {
    of: 'a run that the server refuses with the value in its words',
    text: async () => {
      refuses = true;
      return (await printed('sync', '-o', 'json')) + (await printed('plan'));
    },
    shows: 'may quote values',
  },
  { of: 'the log of runs, at debug level', text: logged, shows: '"level"' },
  {
    of: 'a run that makes it',
    text: async () => {
      refuses = false;
      return printed('sync', '-o', 'json');
    },
    shows: '"name": "api"',
  },
  {
    of: 'a change of the value',
    text: async () => {
      await commit(VALUES[1] ?? '');
      return (await printed('plan', '-o', 'json')) + (await printed('sync'));
    },
    shows: '*** (after)',
  },
  {
    of: 'a manifest with a mistake in it',
    text: async () => {
      await commit(VALUES[0] ?? '', `data: {bad: ${JSON.stringify(VALUES[1])}, worse: 7}\n`, await wronglySealed());
      return printed('sync', '-o', 'json');
    },
    shows: 'sops-outside-secret',
  },
  { of: 'a source that refuses the password in its URL', text: printedOfForbiddenSource, shows: 'git-auth-required' },
  { of: 'what webhooks are told', text: async () => sent('/told'), shows: 'failure' },
  { of: 'what Slack is told', text: async () => sent('/slack'), shows: 'problem' },
  { of: 'what Teams is told', text: async () => sent('/teams'), shows: 'problem' },
  { of: 'traces', text: async () => sent('/v1/traces'), shows: 'resourceSpans' },
  {
    of: 'a state snapshot',
    text: async () => readFileSync(join(instance.dir, 'state.json'), 'utf8'),
    shows: '"api"',
  },
  { of: 'the history', text: () => printed('history', '-o', 'json'), shows: '"version": 1' },
  { of: 'the status', text: () => printed('status', '-o', 'json'), shows: '"version": 1' },
  { of: 'every object but Secrets: history, events, statuses, annotations', text: living, shows: 'skep-test-history' },
];

test('a value of a Secret is in nothing that anybody but the Secret shows', async () => {
  await commit(VALUES[0] ?? '');
  for (const { of, text, shows } of OUTPUTS) {
    const output = await text();
    const leaks = SPELLINGS.filter((spelling) => output.includes(spelling));
    expect([of, leaks]).toEqual([of, []]);
    expect(`${of}: ${output}`).toContain(shows);
  }
});
