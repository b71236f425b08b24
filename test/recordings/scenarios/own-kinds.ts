// Our own kinds, as the definitions under manifests/crds say: are they taken, what do their defaults and rules come to.
// Every fixture of test/reconciler/kinds against any server: `npm run test:cluster`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { apply, at, create, MERGE_PATCH, patch, read, remove } from '../scenario.ts';
import { isEstablished, status } from './custom-kind.ts';
import * as o from './objects.ts';

const FOLDER = join(import.meta.dirname, '../../../manifests/crds');
const WRITTEN_GROUP = 'toolhive.stacklok.dev';
/** Not the real one: the server may have our definitions in use. */
const GROUP = 'own.recordings.example.com';
const PLURALS = ['mcpgroups', 'mcpservers', 'mcpregistries'] as const;
const DRY = { dryRun: 'All', fieldValidation: 'Strict' };

function pathOf(plural: (typeof PLURALS)[number]): string {
  return `/apis/${GROUP}/v1alpha1/namespaces/\${ns}/${plural}`;
}

function readDefinition(plural: string): string {
  return readFileSync(join(FOLDER, `${plural}.yaml`), 'utf8').replaceAll(WRITTEN_GROUP, GROUP);
}

/** The definition itself changes with our schemas: what is recorded is that it is taken. */
function define(plural: string): Step[] {
  const file = `manifests/crds/${plural}.yaml`;
  const definition = parse(readDefinition(plural)) as JsonObject;
  const path = `${o.CRDS}/${plural}.${GROUP}`;
  return [
    create(`${file} is taken`, o.CRDS, definition, {
      bodyName: file,
      pick: (body) => (at(body, '/kind') === 'Status' ? body : 'taken'),
    }),
    read('it is established', path, {
      until: isEstablished,
      pick: (body) => at(status(body), '/acceptedNames') ?? null,
    }),
    read('its objects are served', `/apis/${GROUP}/v1alpha1/namespaces/\${ns}/${plural}`, {
      until: (answer) => answer.status === 200,
    }),
  ];
}

function object(kind: string, spec: Json, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: `${GROUP}/v1alpha1`, kind, metadata: { name: 'one', ...metadata }, spec };
}

const SERVERS = pathOf('mcpservers');
const REGISTRIES = pathOf('mcpregistries');
const IMAGE = 'registry.example.com/mcp/fetch:1.0.0';

function server(reason: string, fields: JsonObject): Step {
  return create(reason, SERVERS, object('MCPServer', { image: IMAGE, ...fields }), { query: DRY });
}

function registry(reason: string, ...registries: Json[]): Step {
  return create(reason, REGISTRIES, object('MCPRegistry', { registries }), { query: DRY });
}

export const OWN_KIND_SCENARIOS: readonly Scenario[] = [
  {
    name: 'own-kinds',
    about: 'Our definitions are taken (their rules fit the cost budget), and what they say about objects.',
    outside: PLURALS.map((plural) => `${o.CRDS}/${plural}.${GROUP}`),
    ticks: true,
    steps: [
      ...PLURALS.flatMap(define),
      apply(
        'an image is enough for a server; the rest are defaults',
        `${SERVERS}/one`,
        'skep-git',
        object('MCPServer', { image: IMAGE }),
      ),
      apply('applying it again writes nothing', `${SERVERS}/one`, 'skep-git', object('MCPServer', { image: IMAGE })),
      apply('its status is written for itself', `${SERVERS}/one/status`, 'skep-git', {
        apiVersion: `${GROUP}/v1alpha1`,
        kind: 'MCPServer',
        metadata: { name: 'one' },
        status: { phase: 'Pending' },
      }),
      patch(
        'a scaled spec moves the generation',
        `${SERVERS}/one`,
        MERGE_PATCH,
        { spec: { replicas: 2 } },
        { query: { fieldManager: 'ops' } },
      ),
      server('an unknown transport', { transport: 'pigeon' }),
      server('a port that is none', { proxyPort: 70000 }),
      server('an unknown field', { imagee: 'x' }),
      create('no image', SERVERS, object('MCPServer', {}), { query: DRY }),
      server('OIDC settings of another type', { oidcConfig: { type: 'inline', kubernetes: {} } }),
      server('OIDC settings of a type without its settings', { oidcConfig: { type: 'configMap' } }),
      apply('a group may be empty', `${pathOf('mcpgroups')}/one`, 'skep-git', object('MCPGroup', {})),
      apply(
        'a registry with one source',
        `${REGISTRIES}/one`,
        'skep-git',
        object('MCPRegistry', {
          registries: [{ name: 'tools', git: { repository: 'https://git.example.com/tools.git' } }],
        }),
      ),
      registry('two sources in one entry', {
        name: 'tools',
        git: { repository: 'https://git.example.com/tools.git' },
        api: { endpoint: 'https://registry.example.com' },
      }),
      registry('no source', { name: 'tools' }),
      registry(
        'two entries of one name',
        { name: 'tools', git: { repository: 'https://git.example.com/a.git' } },
        { name: 'tools', git: { repository: 'https://git.example.com/b.git' } },
      ),
      registry('no entry at all'),
      remove('an object of ours goes', `${SERVERS}/one`),
    ],
  },
];
