// Tests that many places of one document are found quickly. yaml.test.ts tests the places.

import { expect, test } from 'vitest';
import { isMap, yamlPackage } from './package.ts';
import { offsetOf } from './place.ts';

const FIELDS = 1000;

function countedDocument(line: (index: number) => string) {
  const { parseDocument } = yamlPackage();
  const document = parseDocument(Array.from({ length: FIELDS }, (_, index) => line(index)).join('\n'));
  if (!isMap(document.contents)) throw new Error('the text is a mapping');
  let looks = 0;
  const items = new Proxy(document.contents.items, {
    get(pairs, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
      return Reflect.get(pairs, key);
    },
  });
  Object.assign(document.contents, { items });
  return { document, looks: () => looks };
}

test.each([
  { what: 'as their value', line: (index: number) => `k${index}: 1`, name: (index: number) => `k${index}` },
  {
    what: 'in another way',
    line: (index: number) => `0x${index.toString(16)}: 1`,
    name: (index: number) => `${index}`,
  },
])('finds all fields of a mapping in a few passes if keys are written $what', (row) => {
  const { document, looks } = countedDocument(row.line);
  const offsets = Array.from({ length: FIELDS }, (_, index) => offsetOf(document, '', `/${row.name(index)}`, 'key'));
  expect(new Set(offsets).size).toBe(FIELDS);
  expect(looks()).toBeLessThan(3 * FIELDS);
});
