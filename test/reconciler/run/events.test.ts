// What people find in `kubectl describe` of a resource that failed: each failure once, however often the run sees it.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isObject } from '#std/json.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterEach(() => world.cluster.cluster.faults.clear());
afterAll(() => world.close());

function publish(spec: string): void {
  world.fleet.commit({
    'cluster/fleet.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: tools}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRemoteProxy
metadata: {name: almanac, namespace: tools}
spec:
  remoteURL: https://mcp.example.com/mcp
  oidcConfig: {type: kubernetes}
${spec}`,
  });
}

/** `reason: note`, as the older API of events has them too. */
async function reported(): Promise<string[]> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/tools/events');
  const items: unknown = (body as { items?: unknown }).items;
  return (Array.isArray(items) ? items : []).filter(isObject).map(({ type, reason, message, involvedObject }) => {
    const { kind, name } = isObject(involvedObject) ? involvedObject : {};
    return `${type} ${kind}/${name} ${reason}: ${message}`;
  });
}

const MISSING =
  'Warning MCPRemoteProxy/almanac ReferenceMissing: no MCPGroup "nowhere" in namespace tools, neither in Git nor in the cluster';

test('a failure is told once, and again when it is another or came back', async () => {
  publish('  groupRef: nowhere\n');
  await world.run();
  await world.run();
  expect(await reported()).toEqual([MISSING]);

  publish('  headerForward: {addPlaintextHeaders: {Host: a}}\n');
  await world.run();
  await world.run();
  expect(await reported()).toHaveLength(2);
  expect((await reported()).join()).toContain(
    'Warning MCPRemoteProxy/almanac HeaderForwardInvalid: Validation failed: Host',
  );

  publish('');
  await world.run();
  expect(await reported()).toHaveLength(2);

  publish('  groupRef: nowhere\n');
  await world.run();
  expect((await reported()).filter((line) => line === MISSING)).toHaveLength(2);
});

test('an Event that cannot be written is a warning', async () => {
  publish('');
  await world.run();
  world.cluster.cluster.faults.add({ match: { verb: 'create', resource: 'events' }, action: { status: 403 } });
  publish('  groupRef: elsewhere\n');
  const { problems, failures } = await world.run();
  expect(failures).toEqual([]);
  expect(problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'error reference-missing',
    'warning event-not-written',
  ]);
});
