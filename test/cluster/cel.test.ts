// The recorded verdicts on CEL rules, asked of an API server again (docs/testing.md): each rule stands in the schema of a
// definition, and an object is created with a dry run. Rules that are too costly for any server are left out. The embedded
// server is not asked: it evaluates rules with the same code.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { RECORDED, type Verdict } from '../kubernetes/rules/cel-verdicts.ts';
import { type Api, connect } from '../recordings/api.ts';
import { newGroup } from './definitions.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const group = newGroup('cel');
const CHUNK = 12;
let server: SuiteServer;
let api: Api;
let namespace: string;

interface Numbered {
  readonly index: number;
  readonly rule: string;
  readonly verdict: Verdict;
}

const ROWS: readonly Numbered[] = RECORDED.verdicts.map(([rule, verdict], index) => ({ index, rule, verdict }));

function definition(name: string, rules: readonly Numbered[]): JsonObject {
  const validations = rules.map(({ index, rule }) => ({ rule, message: `rule ${index} is false` }));
  const spec = { ...RECORDED.schema, 'x-kubernetes-validations': validations };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: kindOf(name), listKind: `${kindOf(name)}List`, plural: `${name}s`, singular: name },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

function kindOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

async function post(path: string, body: JsonObject, query: Record<string, string> = {}): Promise<string> {
  const answer = await api.call({
    method: 'POST',
    path,
    query,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  return `${answer.status} ${JSON.stringify(answer.body)}`;
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function isRefused(answer: string): boolean {
  return !answer.startsWith('201');
}

/** What the server says of an object of the kind; waits until it serves the kind. */
async function judge(name: string, rules: readonly Numbered[]): Promise<Map<number, Verdict>> {
  const made = definition(name, rules);
  server.later({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `${name}s.${group}` });
  expect(await post(DEFINITIONS, made)).toMatch(/^201/);
  const object = {
    apiVersion: `${group}/v1`,
    kind: kindOf(name),
    metadata: { name: 'probe', namespace },
    spec: RECORDED.value,
  };
  const said = await eventually(
    () => post(`/apis/${group}/v1/namespaces/${namespace}/${name}s`, object, { dryRun: 'All' }),
    (answer) => !answer.startsWith('404'),
  );
  return new Map(rules.map(({ index }) => [index, verdictOf(said, index)]));
}

function verdictOf(said: string, index: number): Verdict {
  const mention = `rule ${index} is false`;
  if (!said.includes(mention)) return 'true';
  return new RegExp(`rule: ${mention}`).test(said) ? 'error' : 'false';
}

/** A server estimates what a rule may cost at worst, and refuses what is above its budget. */
async function affordable(rows: readonly Numbered[], name: string): Promise<Numbered[]> {
  const answer = await post(DEFINITIONS, definition(name, rows), { dryRun: 'All' });
  if (!isRefused(answer)) return [...rows];
  const kept: Numbered[] = [];
  for (const row of rows) {
    const alone = await post(DEFINITIONS, definition(`${name}y${row.index}`, [row]), { dryRun: 'All' });
    if (!isRefused(alone)) kept.push(row);
    else expect(alone).toMatch(/cost/);
  }
  return kept;
}

describe.skipIf((process.env.KUBECONFIG ?? '') === '')('an API server', () => {
  beforeAll(async () => {
    server = await openServer();
    api = await connect(server.kubeconfig);
    namespace = await server.namespace('cel');
  });

  afterAll(async () => {
    await api.close();
    await server.close();
  });

  test('rules are refused as recorded', async () => {
    const taken: string[] = [];
    for (const row of ROWS.filter(({ verdict }) => verdict === 'refused')) {
      const answer = await post(DEFINITIONS, definition(`refused${row.index}x`, [row]), { dryRun: 'All' });
      if (!isRefused(answer)) taken.push(row.rule);
    }
    expect(taken).toEqual([]);
  });

  test('rules are true, false and failing as recorded', async () => {
    const wrong: string[] = [];
    const rows = ROWS.filter(({ verdict }) => verdict !== 'refused');
    for (let start = 0; start < rows.length; start += CHUNK) {
      const chunk = await affordable(rows.slice(start, start + CHUNK), `chunk${start}x`);
      const verdicts = await judge(`probe${start}x`, chunk);
      for (const { index, rule, verdict } of chunk) {
        if (verdicts.get(index) !== verdict) wrong.push(`${rule}: ${verdicts.get(index)} instead of ${verdict}`);
      }
    }
    expect(wrong).toEqual([]);
  }, 600_000);
});
