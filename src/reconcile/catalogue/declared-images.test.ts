import { expect, it } from 'vitest';
import { KINDS } from '../../kinds/index.ts';
import { formatProblem } from '../../std/problem.ts';
import { validate } from '../validate.ts';

const SERVERS = JSON.stringify({
  version: '1.0.0',
  last_updated: '2026-01-01T00:00:00Z',
  servers: Object.fromEntries(
    ['clock', 'hidden'].map((name) => [
      name,
      {
        description: 'A server',
        tier: 'Community',
        status: 'Active',
        transport: 'stdio',
        image: `images.example.com/${name}:1`,
        tools: ['now'],
      },
    ]),
  ),
});

const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'data', namespace: 'a' },
  data: { json: SERVERS },
};

function registry(source: object, enforceServers = true): object {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name: 'reviewed', namespace: 'a' },
    spec: { enforceServers, registries: [{ name: 'all', ...source }] },
  };
}

function server(image: string): object {
  const metadata = { name: 'server', namespace: 'a' };
  return { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', metadata, spec: { image } };
}

const HERE = { configMapRef: { name: 'data', key: 'json' } };
const ELSEWHERE = { git: { repository: 'https://git.example.com/registry.git' } };

it.each([
  { reason: 'it is in the registry', source: HERE, image: 'images.example.com/clock:1', says: [] },
  {
    reason: 'it is in no registry',
    source: HERE,
    image: 'images.example.com/clock:2',
    says: [
      'image-not-enforced: image images.example.com/clock:2 is in no enforcing registry of this namespace (reviewed)',
    ],
  },
  {
    reason: 'the filter keeps it out',
    source: { ...HERE, filter: { names: { exclude: ['*hidden'] } } },
    image: 'images.example.com/hidden:1',
    says: [
      'image-not-enforced: image images.example.com/hidden:1 is in no enforcing registry of this namespace (reviewed)',
    ],
  },
  {
    reason: 'what the registry holds is elsewhere',
    source: ELSEWHERE,
    image: 'images.example.com/clock:2',
    says: [
      'images-not-checked: images of this namespace are not checked here: what all holds is not among these manifests',
    ],
  },
  { reason: 'nothing is enforced', source: ELSEWHERE, enforce: false, image: 'images.example.com/clock:2', says: [] },
])('an image without a cluster, where $reason', ({ source, image, enforce, says }) => {
  const objects = [CONFIG_MAP, registry(source, enforce), server(image)];
  const documents = objects.map((object, index) => ({
    path: `${index}.json`,
    oid: `${index}`,
    text: JSON.stringify(object),
  }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  expect(problems.map((problem) => formatProblem(problem).replace(/^\S+ \S+ | \([^()]*\)$/g, ''))).toEqual(says);
});
