// Verdict parity (docs/testing.md): an API server with our CRDs takes what our validation takes, and refuses what it
// refuses. What only rules, references and the content of other objects tell, a server cannot know: it takes that.
// Every fixture of test/reconciler/kinds is shown to the server, as a dry run, in an API group of this run.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { SCHEMA_CODES } from '#kubernetes/rules/structural/codes.ts';
import { VERSION, VERSIONS } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { JsonObject } from '#std/json.ts';
import { type Fixture, readFixtures } from '../reconciler/kinds/fixture.ts';
import type { Api } from '../recordings/api.ts';
import { connect } from '../recordings/api.ts';
import { kubeconfigOfReconciler } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { kindOf, openServer, type SuiteServer } from './server.ts';

/** Found here, but the server does not mind. */
const TAKEN_BY_SERVERS = new Set<string>(['schema-unchecked', 'cel-unsupported']);

const group = newGroup('kinds');
let server: SuiteServer;
let client: ConnectedCluster;
let api: Api;
let namespace: string;

beforeAll(async () => {
  server = await openServer();
  namespace = await server.namespace('kinds');
  await defineKinds(server, await server.client('suite'), group);
  const account = await kubeconfigOfReconciler(server, { home: namespace, group });
  client = await server.client('kinds', account);
  api = await connect(account);
});

afterAll(async () => {
  await api.close();
  await server.close();
});

/** Both versions have one schema: a fixture has the same verdict in either. */
function shown({ written }: Fixture, version: string): JsonObject {
  const { metadata, ...rest } = written;
  return { ...rest, apiVersion: `${group}/${version}`, metadata: { ...(metadata as JsonObject), namespace } };
}

/** What a schema and its CEL rules find. */
function isValid({ codes }: Fixture): boolean {
  return !codes.some((code) => code in SCHEMA_CODES && !TAKEN_BY_SERVERS.has(code));
}

async function applied(fixture: Fixture, version: string): Promise<string> {
  try {
    await client.apply(shown(fixture, version) as unknown as KubeObject, { force: true, dryRun: true });
    return 'taken';
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function created(fixture: Fixture, version: string, plural: string): Promise<string> {
  const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
  const query = { dryRun: 'All', fieldValidation: 'Strict' };
  const body = JSON.stringify(shown(fixture, version));
  const answer = await api.call({ method: 'POST', path, query, contentType: 'application/json', body });
  return answer.status === 201 ? 'taken' : `refused: ${JSON.stringify(answer.body)}`;
}

test('the server serves our kinds', async () => {
  for (const { kind, plural } of KINDS) {
    expect(await kindOf(client, `${group}/${VERSION}`, kind)).toMatchObject({ plural, namespaced: true });
  }
});

describe.each(KINDS.map((kind) => ({ kind, name: kind.kind })))('$name', ({ kind }) => {
  const fixtures = readFixtures(kind);

  test.each(fixtures.map((fixture) => ({ fixture, name: fixture.name })))('$name', async ({ fixture }) => {
    const expected = isValid(fixture) ? /^taken$/ : /^refused/;
    const ours = fixture.problems.join('\n');
    for (const version of VERSIONS) {
      expect(await applied(fixture, version), `applied; we say: ${ours}`).toMatch(expected);
      expect(await created(fixture, version, kind.plural), `created; we say: ${ours}`).toMatch(expected);
    }
  });

  test.each(fixtures.filter(isValid).map((fixture) => ({ fixture, name: fixture.name })))(
    'defaults of $name are those of the server',
    async ({ fixture }) => {
      for (const version of VERSIONS) {
        const object = shown(fixture, version) as unknown as KubeObject;
        const answer = await client.apply(object, { force: true, dryRun: true });
        expect(answer.spec).toEqual(fixture.resource.spec);
      }
    },
  );
});
