import { expect, it, test } from 'vitest';
import { formatProblem } from '#std/problem.ts';
import { KINDS } from '../../kinds/index.ts';
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

function server(image: string, rest: object = {}): object {
  const metadata = { name: 'server', namespace: 'a' };
  return { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', metadata, spec: { image, ...rest } };
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
      'image-not-enforced: image images.example.com/clock:2 is in no registry of this namespace (reviewed), and one of them enforces that it is',
    ],
  },
  {
    reason: 'the filter keeps it out',
    source: { ...HERE, filter: { names: { exclude: ['*hidden'] } } },
    image: 'images.example.com/hidden:1',
    says: [
      'image-not-enforced: image images.example.com/hidden:1 is in no registry of this namespace (reviewed), and one of them enforces that it is',
    ],
  },
  {
    reason: 'the content of the registry is elsewhere',
    source: ELSEWHERE,
    image: 'images.example.com/clock:2',
    says: [
      'images-not-checked: the images of this namespace are not checked here, for the servers of "all" are not among these manifests: a sync checks them',
    ],
  },
  { reason: 'nothing is enforced', source: ELSEWHERE, enforce: false, image: 'images.example.com/clock:2', says: [] },
])('an image without a cluster, if $reason', ({ source, image, enforce, says }) => {
  const objects = [CONFIG_MAP, registry(source, enforce), server(image)];
  const documents = objects.map((object, index) => ({
    path: `${index}.json`,
    oid: `${index}`,
    text: JSON.stringify(object),
  }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  expect(problems.map((problem) => formatProblem(problem).replace(/^\S+ \S+ | \([^()]*\)$/g, ''))).toEqual(says);
});

const CLOCK = 'images.example.com/clock:1';
const OTHER_IMAGE = 'images.example.com/other:1';
const REFUSED = `image-not-enforced: image ${OTHER_IMAGE} is in no registry of this namespace (open, reviewed), and one of them enforces that it is`;

/** A registry that enforces nothing, and has one image. */
const OPEN = [
  { ...CONFIG_MAP, metadata: { name: 'more', namespace: 'a' }, data: { json: SERVERS.replaceAll('clock', 'open') } },
  {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name: 'open', namespace: 'a' },
    spec: { registries: [{ name: 'more', configMapRef: { name: 'more', key: 'json' } }] },
  },
];

function templated(spec: object): object {
  return { podTemplateSpec: { spec } };
}

test.each([
  { reason: 'another registry of the namespace has it', what: server('images.example.com/open:1'), says: [] },
  {
    reason: 'the label names a registry that does not enforce',
    what: labelled(server(OTHER_IMAGE), 'open'),
    says: [`/spec/image ${REFUSED}`],
  },
  {
    reason: 'the label names a registry that has another image',
    what: labelled(server(CLOCK), 'open'),
    says: [],
  },
  {
    reason: 'the template runs another image as the server',
    what: server(CLOCK, templated({ containers: [{ name: 'mcp', image: OTHER_IMAGE }] })),
    says: [`/spec/podTemplateSpec/spec/containers/0/image ${REFUSED}`],
  },
  {
    reason: 'the template runs a known image in place of an unknown one',
    what: server(OTHER_IMAGE, templated({ containers: [{ name: 'mcp', image: CLOCK }] })),
    says: [],
  },
  {
    reason: 'there is another container',
    what: server(CLOCK, templated({ containers: [{ name: 'mcp' }, { name: 'side', image: OTHER_IMAGE }] })),
    says: [`/spec/podTemplateSpec/spec/containers/1/image ${REFUSED}`],
  },
  {
    reason: 'a container runs first',
    what: server(CLOCK, templated({ initContainers: [{ name: 'first', image: OTHER_IMAGE }] })),
    says: [`/spec/podTemplateSpec/spec/initContainers/0/image ${REFUSED}`],
  },
  {
    reason: 'a volume is an image',
    what: server(CLOCK, templated({ volumes: [{ name: 'programs', image: { reference: OTHER_IMAGE } }] })),
    says: [`/spec/podTemplateSpec/spec/volumes/0/image/reference ${REFUSED}`],
  },
])('the image that runs is checked, if $reason', ({ what, says }) => {
  const documents = [CONFIG_MAP, registry(HERE), ...OPEN, what].map((object, index) => ({
    path: `${index}.json`,
    oid: `${index}`,
    text: JSON.stringify(object),
  }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  expect(problems.map(({ pointer, code, message }) => `${pointer} ${code}: ${message}`)).toEqual(says);
});

function labelled(object: object, registryName: string): object {
  const labels = { 'toolhive.stacklok.io/registry-name': registryName };
  return { ...object, metadata: { name: 'server', namespace: 'a', labels } };
}
