// Tests docs/install.md and docs/upgrade.md on a node: installation, a fleet from Git, an upgrade and the removal.

import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Step, stepsOf } from '../docs/directives.ts';
import { runPage } from '../docs/run-page.ts';
import { openStage, type Stage } from '../docs/stages.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { openStream, startCalls, startLongCalls } from './calls.ts';
import { connect, echo, HTTP, leave, restricted, STDIO, server, urlOf } from './fleet.ts';
import { GIT_HOST, startGitHost } from './git-host.ts';
import { IMAGES } from './images.ts';
import { blockWith, pageOf, sectionOf, stepOf, withText } from './page-steps.ts';
import { ADDRESS, FOLDER, hasEnforcer, KUBECONFIG, kubectl } from './place.ts';
import { REFUSED, startCaller } from './pods.ts';

const FLEET = 'agents';
const SERVERS = ['http', 'stdio'];
/** Namespaces in docs/install.md, and the namespace of the fleet. */
const NAMESPACES = ['skep', 'skep-edge', FLEET, 'team-a', 'team-b'];
const install = pageOf('docs/install.md');
const upgrade = pageOf('docs/upgrade.md');
const steps = stepsOf(install).steps.map(onThisNode);
/** Index of the first step that deletes the registry service and PostgreSQL. */
const middle = steps.findIndex((step) => 'commands' in step && step.commands.text.includes('component=postgres'));
let stage: Stage;

beforeAll(async () => {
  const opened = await openStage('checkout');
  stage = { ...opened, env: { ...opened.env, KUBECONFIG } };
  const repository = startGitHost(join(stage.dir, 'key.pub'));
  const manifests = [restricted(FLEET), server(FLEET, 'http', HTTP), server(FLEET, 'stdio', STDIO)];
  const text = manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n');
  repository.commit({ 'clusters/prod/agents.yaml': text });
  expect(kubectl(['apply', '-f', '-'], JSON.stringify(volume()))).toBeDefined();
});

afterAll(() => stage.close());

test('the first commands of docs/install.md start a reconciler, a registry service and its PostgreSQL', async () => {
  expect(await runPage(install.path, steps.slice(0, middle), stage, PATIENCE_MS)).toBeUndefined();
});

test.each(SERVERS)('the fleet in the Git server runs, and a client calls its server %s', async (name) => {
  await expect.poll(() => phaseOf(name)).toBe('Running');
  const client = await connect(urlOf(FLEET, name));
  await echo(client, name);
  await leave(client);
});

describe.skipIf(!hasEnforcer)('the policy of PostgreSQL', () => {
  const host = 'skep-postgres.skep.svc.cluster.local';

  test('permits connections of MCPRegistry services in other namespaces', () => {
    const service = startCaller('default', 'catalogue', { 'app.kubernetes.io/component': 'registry-api' });
    expect(service.connect(host, 5432)).toBe('connected');
  });

  test('refuses connections of a pod without the label', async () => {
    const stranger = startCaller('skep', 'stranger', {});
    await expect.poll(() => stranger.connect(host, 5432)).toMatch(REFUSED);
  });
});

test('the other commands delete the registry service, and create teams and a second reconciler', async () => {
  const there = { ...stage, dir: join(stage.dir, 'catalogue') };
  expect(await runPage(install.path, steps.slice(middle), there, PATIENCE_MS)).toBeUndefined();
});

test('an upgrade ends streams and sessions of stdio servers; no other call fails', async () => {
  const before = imageOf('http');
  expect(before).toMatch(/@sha256:/);
  const pods = proxyPods();
  const stops = await Promise.all(SERVERS.map((name) => startCalls(urlOf(FLEET, name))));
  const stopLong = startLongCalls(await connect(urlOf(FLEET, 'http')));
  const streams = await Promise.all(SERVERS.map((name) => openStream(urlOf(FLEET, name))));
  writeNextVersion(join(stage.dir, 'kustomization.yaml'));
  // `kubectl diff` ends with exit code 1 if it finds a difference.
  const commands = blockWith(upgrade, 'kubectl diff').replace('kubectl diff --server-side -k .', '$& || [ $? = 1 ]');
  const step = stepOf(upgrade, `${commands}\nkubectl -n skep rollout status deployment skep`);
  expect(await runPage(upgrade.path, [step], stage, PATIENCE_MS)).toBeUndefined();
  await expect.poll(() => SERVERS.map(imageOf).filter((image) => image === before)).toEqual([]);
  const gone = ['-n', FLEET, 'wait', '--for=delete', '--timeout=180s', ...pods];
  expect(kubectl(gone)).toBeDefined();
  await Promise.all(streams.map(({ ended }) => ended));
  const calls = await Promise.all(stops.map((stop) => stop()));
  const sessions = calls.map(({ failed }) => failed);
  // Calls fail only for the stdio server, and only with a 404 that leads to a new session.
  expect(sessions).toEqual([[], calls[1]?.renewals]);
  expect(sessions.flat().length).toBeLessThanOrEqual(1);
  expect(Math.min(...calls.map(({ answered }) => answered))).toBeGreaterThan(10);
  expect(await stopLong()).toEqual([]);
});

test('after the commands that remove everything, no object of skep is left', async () => {
  const ends = [...sectionOf(upgrade, '### The reconciler'), ...sectionOf(upgrade, '### Everything')];
  // The page says "In each of them", so the commands for `default` also run for the namespace of a team.
  const teams = ends.map((step) => withText(step, (text) => text.replaceAll('-n default', '-n team-b')));
  const all = [...ends, ...teams.filter((step) => 'commands' in step && step.commands.text.includes('-n team-b'))];
  expect(await runPage(upgrade.path, all, stage, PATIENCE_MS)).toBeUndefined();
  await expect.poll(leftovers).toEqual([]);
});

function phaseOf(name: string): string | undefined {
  return kubectl(['-n', FLEET, 'get', 'mcpserver', name, '-o=jsonpath={.status.phase}']);
}

function imageOf(name: string): string | undefined {
  const image = '-o=jsonpath={.spec.template.spec.containers[0].image}';
  return kubectl(['-n', FLEET, 'get', 'deployment', name, image]);
}

function proxyPods(): readonly string[] {
  return linesOf(['-n', FLEET, 'get', 'pods', '-l', 'app.kubernetes.io/name=mcpserver', '-o=name']);
}

/** Changes the image version in the kustomization, as docs/upgrade.md describes. */
function writeNextVersion(file: string): void {
  const [name, newTag] = IMAGES.next.split(':');
  writeFileSync(file, `${readFileSync(file, 'utf8')}images: ${JSON.stringify([{ name, newTag }])}\n`);
}

/** Objects that Kubernetes itself creates in a namespace. */
const BUILT_IN = ['service/kubernetes', 'configmap/kube-root-ca.crt', 'serviceaccount/default'];

/** Returns remaining objects in the namespaces, cluster-wide objects of skep, and namespaces with labels of skep. */
function leftovers(): readonly string[] {
  const wide = ['get', 'clusterroles,clusterrolebindings,customresourcedefinitions', '-o=name'];
  const own = linesOf(wide).filter((name) => /skep|toolhive/.test(name));
  const kinds = [
    'pods,deployments,statefulsets,services,configmaps,secrets,serviceaccounts,roles,rolebindings',
    'networkpolicies,poddisruptionbudgets,persistentvolumeclaims,leases',
  ];
  const inNamespaces = NAMESPACES.flatMap((namespace) => {
    const names = linesOf(['-n', namespace, 'get', kinds.join(), '-o=name']);
    return names.filter((name) => !BUILT_IN.includes(name)).map((name) => `${namespace}: ${name}`);
  });
  const marks = '{range .items[*]}{.metadata.name} {.metadata.labels} {.metadata.annotations}{"\\n"}{end}';
  const namespaces = linesOf(['get', 'namespaces', `-o=jsonpath=${marks}`]);
  const marked = namespaces.filter((line) => NAMESPACES.includes(line.split(' ')[0] ?? '') && MARK.test(line));
  return [...own, ...inNamespaces, ...marked];
}

const MARK = /skep\.dev|applyset|app\.kubernetes\.io\/name":"skep/;

function linesOf(args: readonly string[]): readonly string[] {
  const printed = kubectl(args);
  if (printed === undefined) throw new Error(`kubectl ${args.join(' ')} failed`);
  return printed.split('\n').filter((line) => line !== '');
}

/** Returns a PersistentVolume, because the node has no volume provisioner. */
function volume(): object {
  const path = join(FOLDER, 'run/volume');
  mkdirSync(path);
  // User and group of PostgreSQL in the image.
  chownSync(path, 999, 999);
  const spec = { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path } };
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'postgres' }, spec };
}

/** Replaces the page's example Git host by the test's Git server, and runs ssh-keyscan for its keys. */
function onThisNode(step: Step): Step {
  const named = (text: string): string => text.replaceAll('git.example.com', GIT_HOST);
  if ('file' in step) {
    const { path, text } = step.file;
    const more = path === 'skep.yaml' ? `\noutbound: { allowPrivate: [${ADDRESS}/32] }` : '';
    return { file: { ...step.file, text: `${named(text)}${more}` } };
  }
  const { first, text, ...rest } = step.commands;
  const before = first.startsWith('cp key.pub known_hosts') ? blockWith(install, 'ssh-keyscan') : first;
  return { commands: { ...rest, first: named(before), text: named(text) } };
}
