// The built-in pack: an API server would take it, every fixture is what its name claims, and the sample fleet passes.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPolicies } from '#kubernetes/rules/policy/read.ts';
import { PACK_FILES, packFixtures, said } from './pack.ts';

const FLEET = join(import.meta.dirname, '../../manifests/fleet/cluster');

test('the pack has no problem, not even a warning', () => {
  expect(readPolicies(PACK_FILES).problems).toEqual([]);
});

test('every policy of the pack has fixtures that it lets through and that it does not', () => {
  const { set } = readPolicies(PACK_FILES);
  const claims = packFixtures().map(({ policy, claim }) => `${policy} ${claim.split('-')[0]}`);
  for (const { name } of set.policies)
    expect(claims).toEqual(expect.arrayContaining([`${name} allow`, `${name} deny`]));
});

test.each(packFixtures())('$policy: $claim', ({ policy, claim, ...fixture }) => {
  const all = said({ ...fixture });
  const results = all.flatMap((each) => each.results);
  expect(all.flatMap(({ unknown }) => unknown)).toEqual([]);
  const [word = ''] = claim.split('-');
  // One thing is wrong at a time, so no other has anything to say.
  if (word === 'allow') expect(results).toEqual([]);
  else {
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result).toMatch(new RegExp(`^${word} ${policy}: `));
  }
});

test('the sample fleet passes without a denial, and is warned only of an issuer and a server on this machine', () => {
  const paths = readdirSync(FLEET, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  const text = paths.map((path) => readFileSync(join(FLEET, path), 'utf8')).join('\n---\n');
  const results = said({ path: 'fleet.yaml', text }).flatMap((each) => each.results);
  const warnings = results.filter((result) => !result.startsWith('audit resource-limits: '));
  expect(
    new Set(warnings.map((result) => result.replace(/(insecureAllowHTTP|jwksAllowPrivateIP|remoteUrl) .*/, '$1'))),
  ).toEqual(
    new Set(
      ['insecureAllowHTTP', 'jwksAllowPrivateIP', 'remoteUrl'].map((field) => `warn transport-security: ${field}`),
    ),
  );
});
