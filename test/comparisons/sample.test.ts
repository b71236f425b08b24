// Local result = server result, on cases recorded from a real API server by test/cluster/comparisons.test.ts.

import { expect, test } from 'vitest';
import { typesOfDefinition } from '#kubernetes/devcluster/custom/definition.ts';
import { customDocument } from '#kubernetes/devcluster/custom/document.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { GROUP, MANAGER, readSample } from './sample.ts';
import { localResult, openTally, wrong } from './tally.ts';

const CASES = readSample();
const OWN = customDocument(
  KINDS.flatMap((kind) => {
    const status = { conditions: [{ type: 'Established', status: 'True' }] };
    return typesOfDefinition({ ...crd(kind, GROUP), status });
  }),
);

function typeOf({ apiVersion, kind }: KubeObject): MergeType {
  const group = groupOf(apiVersion);
  const document = group === GROUP ? OWN : bundledSchema(apiVersion);
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  const type = document && rootType(document, { group, version, kind });
  if (type === undefined) throw new Error(`no type of ${apiVersion} ${kind}`);
  return type;
}

// A kind that comes is in it once the sample is recorded anew, which takes a real server.
test('the sample has hundreds of cases, of nine kinds of ours and twenty of Kubernetes', () => {
  const kinds = new Set(CASES.map(({ kind }) => kind));
  expect(CASES.length).toBeGreaterThanOrEqual(300);
  const ours = KINDS.filter(({ kind }) => kinds.has(kind));
  expect(ours.length).toBeGreaterThanOrEqual(9);
  expect(kinds.size - ours.length).toBeGreaterThanOrEqual(20);
});

test('the result from the LIST alone is what the server said, and seldom left to it', () => {
  const tally = openTally();
  const mistakes = CASES.flatMap(({ kind, number, story, desired, live, answer }) => {
    const comparison = localResult(desired, live, typeOf(desired), MANAGER);
    tally.add(comparison.result, answer);
    const mistake = wrong(comparison, answer);
    return mistake === undefined ? [] : [`${kind} ${number}: ${mistake} (${story.join('; ')})`];
  });
  expect(mistakes).toEqual([]);
  expect(tally.of('unchanged')).toBeGreaterThan(CASES.length / 4);
  expect(tally.of('changed')).toBeGreaterThan(CASES.length / 4);
  expect(tally.of('unknown')).toBeLessThan(CASES.length / 20);
});
