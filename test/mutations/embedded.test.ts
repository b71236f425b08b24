// The embedded server and `skep validate` agree about mutated manifests. They share code, so this finds where the two use
// it differently; that they are right is asked of a real server (test/cluster/mutations.test.ts).

import { afterAll, beforeAll, expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import { defineKinds, newGroup } from '../cluster/definitions.ts';
import { openServer, type SuiteServer } from '../cluster/server.ts';
import { connect } from '../recordings/api.ts';
import { disagreements, mutationsOf, reported, type Site } from './parity.ts';

const SEED = 20261121;
const COUNT = 40;

let server: SuiteServer;
let site: Site;

beforeAll(async () => {
  server = await openServer('');
  const group = newGroup('mutations');
  await defineKinds(server, await server.client('mutations'), group);
  site = { api: await connect(server.kubeconfig), group, namespace: await server.namespace('mutations') };
});

afterAll(async () => {
  await site.api.close();
  await server.close();
});

test.each(KINDS.map((kind) => ({ name: kind.kind, kind })))(`${COUNT} mutations of a $name`, async ({ kind }) => {
  expect(reported(await disagreements(site, kind, mutationsOf(kind, SEED, COUNT, site)))).toBe('');
});

test('the same seed gives the same mutations, another one others', () => {
  const [kind] = KINDS;
  const texts = (seed: number) => mutationsOf(kind!, seed, 20, site).map(({ text }) => text);
  expect(texts(1)).toEqual(texts(1));
  expect(texts(1)).not.toEqual(texts(2));
});
