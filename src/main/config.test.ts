// Where a wrong setting is said to come from.

import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const TEXT = 'sources: [{name: fleet, repository: "https://git.example.com/fleet.git"}]\napply: {maxDeletes: -1}\n';

function check(environment: Record<string, string>, expected: RegExp): void {
  expect(() => readConfig({ text: TEXT, file: 'skep.yaml', environment })).toThrow(expected);
}

test('a wrong value of the file is named with its place', () => {
  check({}, /^skep\.yaml:2:21: error schema-/);
});

test('a wrong value of the environment is named with its variable, and the file is not blamed', () => {
  check({ SKEP_APPLY_MAXDELETES: 'many' }, /^error schema-\S+: SKEP_APPLY_MAXDELETES: /);
});

test('a wrong value inside JSON of the environment is named with the variable that holds it', () => {
  check({ SKEP_APPLY: '{"maxDeletes": "many"}' }, /^error schema-\S+: SKEP_APPLY: /);
});
