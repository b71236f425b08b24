// Local result = server result (docs/testing.md): of thousands of stories of an object (first desired, what others do,
// second desired) the result from the LIST alone is compared with a dry run. SKEP_SEED and SKEP_COUNT (of all kinds
// together) choose others, and more; SKEP_RECORD=1 stores them for test/comparisons/sample.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subjects } from '../comparisons/manifests.ts';
import { MANAGER, GROUP as SAMPLE_GROUP, writeSample } from '../comparisons/sample.ts';
import { type Teller, tell, typeOf } from '../comparisons/stories.ts';
import { type Case, localResult, openTally, table, wrong } from '../comparisons/tally.ts';
import { connect } from '../recordings/api.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { allowNoPods, openServer, type SuiteServer } from './server.ts';

const SEED = Number(process.env.SKEP_SEED ?? 20261121);
const COUNT = Number(process.env.SKEP_COUNT ?? 600);
const GROUP = newGroup('comparisons');
const SUBJECTS = subjects(GROUP);
const EACH = Math.ceil(COUNT / SUBJECTS.length);

let server: SuiteServer;
let teller: Omit<Teller, 'namespace'>;
let [common, apart] = ['', ''];
const all = openTally();
const wrongs: string[] = [];
/** Of each kind as many, where they are recorded: all that are asked for. */
const sample: Case[] = [];

beforeAll(async () => {
  server = await openServer();
  const client = await server.client('comparisons');
  await defineKinds(server, client, GROUP);
  teller = { api: await connect(server.kubeconfig), client, manager: MANAGER, seed: SEED };
  [common, apart] = [await server.namespace('comparisons'), await server.namespace('comparisons-apart')];
  await allowNoPods(client, common);
});

afterAll(async () => {
  process.stdout.write(`${table('all', all)}\n`);
  await teller.api.close();
  await server.close();
});

/** What limits its own namespace would spoil the stories of others. */
function namespaceOf(kind: string): string {
  return ['ResourceQuota', 'LimitRange'].includes(kind) ? apart : common;
}

function reported({ kind, number, story, answer }: Case, why: string): string {
  return [`${kind} ${number} of seed ${SEED}: ${why}; the server: ${answer}`, ...story].join('\n  ');
}

describe.each(SUBJECTS.map((subject) => ({ name: subject.kind, subject })))('$name', ({ subject }) => {
  test(`${EACH} stories`, async () => {
    const cases = await tell({ ...teller, namespace: namespaceOf(subject.kind) }, subject, EACH);
    const type = await typeOf(teller, subject);
    const tally = openTally();
    sample.push(...cases);
    for (const each of cases) {
      const comparison = localResult(each.desired, each.live, type, teller.manager);
      for (const one of [tally, all]) one.add(comparison.result, each.answer);
      const mistake = wrong(comparison, each.answer);
      const { path = '', reason = '' } = comparison;
      if (mistake !== undefined) wrongs.push(reported(each, `${mistake} (${path} ${reason})`));
      if (process.env.SKEP_SHOW === 'unknown' && comparison.result === 'unknown')
        process.stdout.write(`${reported(each, `unknown (${path} ${reason})`)}\n`);
    }
    process.stdout.write(`${table(subject.kind, tally)}\n`);
    expect(cases.length).toBe(EACH);
  }, 600_000);
});

test('unchanged is never wrong, changed in no more than one of 2,000, and few cannot be known', () => {
  process.stdout.write(`${wrongs.join('\n')}\n`);
  const [unchanged, changed, unknown] = [all.of('unchanged'), all.of('changed'), all.of('unknown')];
  expect(all.of('unchanged', 'ownership', 'object', 'refused')).toBe(0);
  expect(all.of('changed', 'nothing')).toBeLessThanOrEqual(Math.floor(changed / 2000));
  expect(unknown / (unchanged + changed + unknown)).toBeLessThan(0.05);
});

test.runIf(process.env.SKEP_RECORD === '1')('the cases are recorded', () => {
  writeSample(sample, { [common]: 'common', [apart]: 'apart', [GROUP]: SAMPLE_GROUP });
});
