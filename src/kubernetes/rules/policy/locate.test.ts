// Tests the place of a violation, which is derived from the violated expression.

import { expect, test } from 'vitest';
import { dynamicValue } from '../cel/dynamic.ts';
import { locate } from './locate.ts';
import { policyOf } from './policy.ts';

const OBJECT = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'thing', labels: { 'a/b': 'c' } },
  spec: {
    image: 'web:latest',
    count: 3,
    env: [
      { name: 'A', value: 'x' },
      { name: 'TOKEN', value: 'secret' },
    ],
    deep: { names: ['a', 'B'] },
  },
};

const VARIABLES = [
  { name: 'env', expression: 'object.spec.env' },
  { name: 'values', expression: 'variables.env.filter(e, e.name != "A").map(e, e.value)' },
  { name: 'small', expression: 'object.spec.count < 2' },
];

const ROWS: readonly (readonly [expression: string, pointer: string])[] = [
  ['object.spec.count < 2', '/spec/count'],
  ['2 > object.spec.count', '/spec/count'],
  ['object.spec.missing.orValue("") == "x"', '/spec/missing'],
  ['object.spec.?missing.orValue("") == "x"', '/spec/missing'],
  ['has(object.spec.limits)', '/spec/limits'],
  ['!has(object.spec.image) || !object.spec.image.endsWith(":latest")', '/spec/image'],
  ['has(object.spec.image) && object.spec.count == 1', '/spec/count'],
  ['object.spec.env.all(e, e.name != "TOKEN")', '/spec/env/1/name'],
  ['!object.spec.env.exists(e, e.name == "TOKEN" && has(e.value))', '/spec/env/1/value'],
  ['object.spec.env.exists(e, e.name == "Z")', '/spec/env'],
  ['object.spec.deep.names.all(n, n == n.lowerAscii())', '/spec/deep/names/1'],
  ['variables.env.all(e, e.value != "secret")', '/spec/env/1/value'],
  ['variables.values.all(v, v != "secret")', '/spec/env/1/value'],
  ['(object.spec.env.map(e, e.name) + object.spec.deep.names).all(n, n != "B")', '/spec/deep/names/1'],
  ['variables.small', '/spec/count'],
  ['object.spec.count > 2 ? object.spec.image == "a" : true', '/spec/image'],
  ['object.metadata.labels["a/b"] == "d"', '/metadata/labels/a~1b'],
  ['object.metadata.labels.all(k, object.metadata.labels[k] == "d")', '/metadata/labels/a~1b'],
  ['1 == 2', ''],
];

test.each(ROWS)('%s: %s', (expression, pointer) => {
  const policy = policyOf({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'policy' },
    spec: { variables: VARIABLES },
  });
  const values = { object: dynamicValue(OBJECT), request: {}, namespaceObject: null, params: null };
  expect(locate(policy, expression, values)).toBe(pointer);
});
