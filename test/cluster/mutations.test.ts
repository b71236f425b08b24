// Verdict parity (docs/testing.md) over mutated manifests: an API server and `skep validate` agree about each of thousands
// of manifests with something wrong, or just odd, in them. SKEP_SEED and SKEP_COUNT (of each kind) choose others, and more.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import { disagreements, mutationsOf, ourVerdict, reported, type Site } from '../mutations/parity.ts';
import { connect } from '../recordings/api.ts';
import { kubeconfigOfReconciler } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { openServer, type SuiteServer } from './server.ts';

const SEED = Number(process.env.SKEP_SEED ?? 20261121);
const COUNT = Number(process.env.SKEP_COUNT ?? 300);

let server: SuiteServer;
let site: Site;

beforeAll(async () => {
  server = await openServer();
  const group = newGroup('mutations');
  await defineKinds(server, await server.client('mutations'), group);
  const namespace = await server.namespace('mutations');
  const account = await kubeconfigOfReconciler(server, { home: namespace, group });
  site = { api: await connect(account), group, namespace };
});

afterAll(async () => {
  await site.api.close();
  await server.close();
});

describe.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  test(`${COUNT} mutations of seed ${SEED}: the server and skep validate agree`, async () => {
    const mutations = mutationsOf(kind, SEED, COUNT, site);
    const valid = mutations.filter(({ text }) => ourVerdict(text, site.group) === '').length;
    process.stdout.write(`${kind.kind}: ${mutations.length} mutations, ${valid} of them valid\n`);
    expect(reported(await disagreements(site, kind, mutations))).toBe('');
    // Were all of them refused, little would be compared.
    expect(valid).toBeGreaterThan(COUNT / 20);
  });
});
