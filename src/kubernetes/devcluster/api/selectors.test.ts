import { expect, test } from 'vitest';
import type { KubeObject } from '../../rules/object.ts';
import { fieldMatcher, labelMatcher } from './selectors.ts';

const OBJECTS: Readonly<Record<string, Record<string, string>>> = {
  bare: {},
  web: { app: 'web', tier: 'edge', weight: '7' },
  api: { app: 'api', 'example.com/tier': '' },
};

function object(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n', labels: OBJECTS[name] ?? {} } };
}

const LABELS: readonly { selector: string; selects: string }[] = [
  { selector: '', selects: 'bare web api' },
  { selector: 'app', selects: 'web api' },
  { selector: '!app', selects: 'bare' },
  { selector: 'app=web', selects: 'web' },
  { selector: 'app == web', selects: 'web' },
  { selector: 'app!=web', selects: 'bare api' },
  { selector: 'app in (web, api)', selects: 'web api' },
  { selector: 'app notin (web)', selects: 'bare api' },
  { selector: 'app=web,tier=edge', selects: 'web' },
  { selector: 'app=web,tier=other', selects: '' },
  { selector: 'example.com/tier=', selects: 'api' },
  { selector: 'example.com/tier in (,x)', selects: 'api' },
  { selector: 'weight>6', selects: 'web' },
  { selector: 'weight<7', selects: '' },
];

test.each(LABELS)('labels "$selector" select $selects', ({ selector, selects }) => {
  const matches = labelMatcher(selector);
  expect(
    Object.keys(OBJECTS)
      .filter((name) => matches(object(name)))
      .join(' '),
  ).toBe(selects);
});

const NO_LABEL_SELECTORS = [
  'a b',
  'a=',
  ',a',
  'a,',
  'a in x',
  'a in (x',
  'a in ()x',
  'a>x',
  '=a',
  '$a',
  'a/b/c',
  'a=b/c',
];

test.each(NO_LABEL_SELECTORS.filter((text) => text !== 'a='))('"%s" is not a label selector', (text) => {
  expect(() => labelMatcher(text)).toThrow(expect.objectContaining({ data: expect.objectContaining({ code: 400 }) }));
});

const FIELDS: readonly { selector: string; selects: string }[] = [
  { selector: '', selects: 'bare web api' },
  { selector: 'metadata.name=web', selects: 'web' },
  { selector: 'metadata.name==web', selects: 'web' },
  { selector: 'metadata.name!=web', selects: 'bare api' },
  { selector: 'metadata.name!=web,metadata.name!=api', selects: 'bare' },
  { selector: 'metadata.namespace=n,kind=a\\,b', selects: 'bare web api' },
];

test.each(FIELDS)('fields "$selector" select $selects', ({ selector, selects }) => {
  const matches = fieldMatcher(selector, { kind: () => 'a,b' });
  expect(
    Object.keys(OBJECTS)
      .filter((name) => matches(object(name)))
      .join(' '),
  ).toBe(selects);
});

test.each(['foo=bar', 'foo'])('"%s" is not a field selector of this kind', (text) => {
  expect(() => fieldMatcher(text, {})).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ code: 400 }) }),
  );
});
