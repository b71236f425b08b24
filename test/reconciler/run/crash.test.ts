// The death of a run, at every kind of write it makes: before it reached the server, and after, its answer lost. The next
// run finishes what was begun: no orphan, nothing deleted twice, no approval lost. A proxy ends everything at request N,
// so that each point is met in every run of the test; kill.test.ts kills real processes at random ones.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { readApprovals } from '#reconciler/run/records/approval.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { type Fate, type Passing, type Seen, startProxy } from '../../harness/proxy.ts';
import { API_GROUP } from '../../harness/world.ts';
import { GROUP, NAMESPACE, server } from './fleet.ts';
import { HOME, hurriedClock, newProcess } from './process.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/skep-test';
const KEY = '/api/v1/namespaces/default/secrets/skep-test';

let cluster: TestCluster;
let client: ConnectedCluster;

beforeAll(async () => {
  // No controller moves anything meanwhile.
  cluster = await startTestCluster({ workloadsReadyAfterMs: 3_600_000 });
  const { kubeconfigPath: kubeconfig } = cluster;
  const options = { fieldManager: 'skep-test', concurrency: 16, version: 'test', clock: systemClock };
  client = await connectCluster({ kubeconfig, ...options });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  client.refresh();
  await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tools' } }, { force: true });
  // What a pod reads, so that its digest is kept with the pod, and a key is needed for that.
  const metadata = { name: 'token', namespace: 'tools' };
  await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 't' } }, { force: true });
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

type Side = 'left' | 'right';

/**
 * Two commits. From one to the other a server comes, one changes, one leaves, one loses its group (and gets it back), a
 * kind comes and one goes, and something stays that only a dry run can judge.
 */
function manifests(side: Side): string {
  const isLeft = side === 'left';
  const secrets = '  secrets:\n    - {name: token, key: token, targetEnvName: TOKEN}\n';
  const documents = [
    NAMESPACE,
    GROUP,
    server(isLeft ? 'alpha' : 'gamma'),
    `${server('beta', isLeft ? '1.0.0' : '2.0.0')}${secrets}`,
    server('delta').replace('groupRef: team', `groupRef: ${isLeft ? 'team' : 'nowhere'}`),
    isLeft ? ROLE : POLICY,
    ODD,
  ];
  return documents.join('---\n');
}

const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: seldom}
rules: []
`;

const POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: seldom, namespace: tools}
spec: {podSelector: {}}
`;

/** An empty struct inside a list: the lists do not tell whether it is stored. */
const ODD = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: odd, namespace: tools}
spec: {podSelector: {}, ingress: [{ports: [{protocol: ""}]}]}
`;

/** Every deletion is beyond these. */
const NONE = { maxDeletes: 0, maxDeletesPercent: 100 };
const PLENTY = { maxDeletes: 100, maxDeletesPercent: 100 };
const LIMITS = { left: PLENTY, right: NONE };
/** On the right a reference is missing, which is reported like an invalid manifest. */
const EXIT = { left: 0, right: 3 };

type Kinds = 'of these commits' | 'all';

async function objects(kinds: Kinds): Promise<readonly KubeObject[]> {
  const all = (await client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const chosen = kinds === 'all' ? all : all.filter(({ kind }) => COMMON.has(kind));
  const lists = await Promise.all(chosen.map((each) => client.list(each)));
  return lists.flat();
}

/** Everything that may come and go, and what the parent says of it. */
function everything(found: readonly KubeObject[]): unknown {
  const parent = found.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'skep-test');
  const living = found.filter(({ kind, metadata }) => kind !== 'Event' && metadata.name !== 'skep-test-approval');
  return { living: living.map(reported).sort(), extent: parent?.metadata.annotations };
}

const COMMON: ReadonlySet<string> = new Set([
  ...['Namespace', 'ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole'],
  ...['NetworkPolicy', 'Deployment', 'StatefulSet', 'MCPServer', 'MCPGroup'],
]);

function reported(object: KubeObject): string {
  const owners = (object.metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind}/${name}`);
  const leaving = object.metadata.deletionTimestamp === undefined ? '' : ' is leaving';
  return `${formatId(idOf(object))} of ${owners.join()}${leaving}`;
}

interface Death {
  /** What the write was at which it died; undefined where it lived to the end. */
  readonly at: string | undefined;
  readonly seen: readonly Seen[];
  readonly code: number | undefined;
}

/** A run, one request at a time, that dies as soon as `fate` says so. */
async function doomed(side: Side, fate: (passing: Passing) => Fate, clock: Clock): Promise<Death> {
  let at: string | undefined;
  const proxy = await startProxy(cluster, (passing) => {
    const chosen = fate(passing);
    if (typeof chosen === 'object' && 'end' in chosen) at = `${chosen.end} ${passing.label}`;
    return chosen;
  });
  const process = await newProcess({
    kubeconfig: proxy.kubeconfigPath,
    manifests: manifests(side),
    concurrency: 1,
    clock,
  });
  const result = await process.run({ limits: LIMITS[side] }).catch(() => undefined);
  await Promise.all([process.close(), proxy.close()]);
  return { at, seen: proxy.seen, code: result && exitCodeOf(result) };
}

function isPoint({ isWrite, isDryRun }: Passing): boolean {
  return isWrite || isDryRun;
}

/** The n-th of the requests that count (from 1) is the last thing that happens, or no longer happens. */
function atRequest(
  n: number,
  when: 'before' | 'after',
  counts: (passing: Passing) => boolean = isPoint,
): (passing: Passing) => Fate {
  let count = 0;
  return (passing) => {
    if (!counts(passing)) return 'pass';
    count += 1;
    return count === n ? { end: when } : 'pass';
  };
}

async function remove(path: string): Promise<void> {
  const { status } = await cluster.send('DELETE', path);
  expect([200, 404]).toContain(status);
}

/** Uids whose deletion was asked for. */
function deletions(seen: readonly Seen[]): string[] {
  return seen.flatMap(({ method, body }) =>
    method === 'DELETE' ? [JSON.parse(body).preconditions.uid as string] : [],
  );
}

/** What may be deleted by an approval that was given before: none may outlive what it was given for. */
async function stillApproved(living: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  const { all } = await readApprovals(client, HOME);
  return living.filter(({ metadata }) => all.some(({ lines }) => lines.has(metadata.uid ?? '')));
}

const reference: Partial<Record<Side, unknown>> = {};

/** The other commit comes, a run dies on its way there, and the next one arrives. */
async function survive(side: Side, fate: (passing: Passing) => Fate, clock = hurriedClock()): Promise<Death> {
  const limits = LIMITS[side];
  const direct = { kubeconfig: cluster.kubeconfigPath, manifests: manifests(side), concurrency: 2 };
  const next = await newProcess({ ...direct, clock: hurriedClock() });
  await Promise.all([remove(LEASE), remove(KEY)]);
  if (limits === NONE) await next.approve({ limits });
  const death = await doomed(side, fate, clock);
  const where = death.at ?? 'nowhere';

  const result = await next.run({ limits });
  expect([where, exitCodeOf(result), result.plan.waiting]).toEqual([where, EXIT[side], []]);
  const living = await objects('of these commits');
  expect([where, everything(living)]).toEqual([where, reference[side]]);
  expect([where, await stillApproved(living)]).toEqual([where, []]);
  expect([where, (await next.plan({ limits })).plan.batches]).toEqual([where, []]);
  const gone = deletions(death.seen.filter(({ label }) => `before ${label}` !== death.at));
  const again = result.plan.batches.flatMap(({ changes }) =>
    changes.flatMap((each) => (each.action === 'delete' ? [each.uid] : [])),
  );
  expect([where, again.filter((uid) => gone.includes(uid))]).toEqual([where, []]);
  await next.close();
  return death;
}

/** What a run writes that no one kills, in its order. */
async function undisturbed(side: Side): Promise<readonly string[]> {
  await Promise.all([remove(LEASE), remove(KEY)]);
  const settings = { kubeconfig: cluster.kubeconfigPath, manifests: manifests(side), concurrency: 2 };
  const process = await newProcess(settings);
  if (LIMITS[side] === NONE) await process.approve({ limits: NONE });
  const { seen, code } = await doomed(side, () => 'pass', hurriedClock());
  await process.close();
  expect(code).toBe(EXIT[side]);
  reference[side] = everything(await objects('of these commits'));
  return seen.filter(isPoint).map(({ label }) => label);
}

/** Positions (from 1) at which another kind of write begins; dry runs leave nothing and are one kind. */
function turns(labels: readonly string[]): number[] {
  const kinds = labels.map((label) => label.replace(/\?.*/, '?'));
  return kinds.flatMap((kind, index) => (kind === kinds[index - 1] ? [] : [index + 1]));
}

test('a run that dies before or after any kind of write is finished by the next', async () => {
  const first = await newProcess({ kubeconfig: cluster.kubeconfigPath, manifests: manifests('left'), concurrency: 16 });
  await first.run();
  await first.close();
  const writes = { right: await undisturbed('right'), left: await undisturbed('left') };
  expect([...writes.left, ...writes.right]).toEqual(expect.arrayContaining(KINDS_OF_WRITES));

  const whole = everything(await objects('all'));
  // After one is before the next: on one side this, on the other that.
  const points: string[] = [];
  const numbers = { right: turns(writes.right), left: turns(writes.left) };
  for (let index = 0; index < Math.max(numbers.left.length, numbers.right.length); index += 1) {
    const { at: right } = await survive('right', atRequest(numbers.right[index] ?? 1, 'after'));
    const { at: left } = await survive('left', atRequest(numbers.left[index] ?? 2, 'before'));
    points.push(`right, ${right}`, `left, ${left}`);
  }
  process.stdout.write(`${new Set(points).size} points: ${[...new Set(points)].join('; ')}\n`);
  expect(new Set(points).size).toBeGreaterThanOrEqual(50);
  expect(everything(await objects('all'))).toEqual(whole);
});

/** What is killed before and after; dry runs have a question mark. */
const KINDS_OF_WRITES = [
  // The lease is made and given back; the parent is declared; a key is made; an approval is begun and spent.
  ...['POST leases', 'PUT leases', 'PATCH configmaps', 'PATCH secrets', 'PUT configmaps'],
  ...['PATCH? networkpolicies', 'PATCH mcpservers', 'PATCH statefulsets', 'DELETE mcpservers', 'DELETE statefulsets'],
  ...['PATCH mcpservers/status', 'POST events'],
];

test.each([
  ['right', 1, 'before'],
  ['left', 1, 'after'],
  ['right', 3, 'after'],
  ['left', 2, 'before'],
] as const)('(to the %s) renewal %i of the lease: the end, %s it', async (side, n, when) => {
  const isRenewal = ({ label }: Passing): boolean => label === 'PUT leases';
  const { at } = await survive(side, atRequest(n, when, isRenewal), hurriedClock(10));
  expect(at).toBe(`${when} PUT leases`);
});
