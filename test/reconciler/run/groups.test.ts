// A group that others made goes under its members: they keep what they have, and say what they lack.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isObject } from '#std/json.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

const TOOLS = `/apis/${API_GROUP}/v1alpha1/namespaces/tools`;
const GROUP = { apiVersion: `${API_GROUP}/v1alpha1`, kind: 'MCPGroup', metadata: { name: 'outdoors' }, spec: {} };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

function publish(groupRef: string): void {
  const member = (kind: string, name: string, spec: string) => `---
apiVersion: ${API_GROUP}/v1alpha1
kind: ${kind}
metadata: {name: ${name}, namespace: tools}
spec: {${spec}${groupRef}}
`;
  world.fleet.commit({
    'cluster/fleet.yaml': `apiVersion: v1
kind: Namespace
metadata: {name: tools}
${member('MCPServer', 'weather', 'image: "images.example.com/weather:1", transport: sse')}${member(
  'MCPRemoteProxy',
  'almanac',
  'remoteURL: "https://mcp.example.com", oidcConfig: {type: kubernetes}',
)}`,
  });
}

async function groupVerdict(plural: string, name: string): Promise<string> {
  const { body } = await world.cluster.send('GET', `${TOOLS}/${plural}/${name}`);
  const status: unknown = body.status;
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const found = conditions.find(({ type }) => type === 'GroupRefValidated');
  return found === undefined ? 'none' : `${found.status} ${found.reason}`;
}

const verdicts = () =>
  Promise.all([groupVerdict('mcpservers', 'weather'), groupVerdict('mcpremoteproxies', 'almanac')]);

async function versions(): Promise<string[]> {
  const paths = ['weather', 'almanac'].map((name) => `/apis/apps/v1/namespaces/tools/deployments/${name}`);
  const answers = await Promise.all(paths.map((path) => world.cluster.send('GET', path)));
  return answers.map(({ status, body }) => `${status} ${body.metadata.generation}`);
}

test('its members keep their pods, and say that it is gone', async () => {
  publish('');
  await world.run();
  await world.cluster.send('POST', `${TOOLS}/mcpgroups`, { body: GROUP });
  publish(', groupRef: outdoors');
  await world.run();
  expect(await verdicts()).toEqual(['True GroupRefIsValid', 'True GroupRefIsValid']);
  const before = await versions();

  await world.cluster.send('DELETE', `${TOOLS}/mcpgroups/outdoors`);
  const { problems, outcomes } = await world.run();
  expect(problems.map(({ code }) => code)).toEqual(['reference-missing', 'reference-missing']);
  expect(outcomes).toEqual([]);
  expect(await verdicts()).toEqual(['False GroupRefNotFound', 'False GroupRefNotFound']);
  expect(await versions()).toEqual(before);
});
