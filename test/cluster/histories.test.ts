// Three hundred random histories, as test/reconciler/run/histories.test.ts plays thirty; SKEP_COUNT of them where it is given, from
// SKEP_SEED on. Against the API server that KUBECONFIG names, else the embedded one.

import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { API_GROUP } from '../harness/world.ts';
import { playHistory } from '../histories/play.ts';
import { beginToRemove, openServer, type SuiteServer } from './server.ts';

const COUNT = Number(process.env.SKEP_COUNT ?? 300);
const SEED = Number(process.env.SKEP_SEED ?? randomInt(2 ** 30));
let server: SuiteServer;

beforeAll(async () => {
  server = await openServer(undefined, { workloadsReadyAfterMs: 3_600_000 });
  const client = await server.client('definitions');
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
});

afterAll(() => server.close());

test(`${COUNT} histories from seed ${SEED} on delete nothing that is declared, and end as Git says`, async () => {
  const wrong: string[] = [];
  for (let number = 0; number < COUNT; number += 1) {
    const instance = `h${SEED + number}`;
    const namespaces = ['a', 'b'].map((place) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      name: `${instance}-${place}`,
    }));
    for (const namespace of namespaces) server.later(namespace);
    const client = await server.client(instance);
    const { steps, violations } = await playHistory(client, instance, SEED + number);
    for (const namespace of namespaces) await beginToRemove(client, namespace);
    if (violations.length > 0) wrong.push([instance, ...steps, ...violations.map((each) => `! ${each}`)].join('\n  '));
  }
  expect(wrong.join('\n')).toBe('');
}, 3_600_000);
