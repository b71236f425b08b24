// Tests the reported faults of texts that are not Cedar policies: places and expected tokens.

import { expect, test } from 'vitest';
import { entitiesFault, policyFaults } from './cedar.ts';

function said(text: string): readonly string[] {
  return policyFaults(text).map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const DEEP = 1000;

test.each<[reason: string, text: string, expected: readonly string[]]>([
  ['one policy', 'permit(principal, action == Action::"call_tool", resource == Tool::"weather");', []],
  [
    'two policies in one text',
    'permit(principal, action, resource);\nforbid(principal, action, resource) unless { true };',
    [],
  ],
  ['an empty text', '', ['1:1 it contains no policy']],
  ['comments only', '// permit(principal, action, resource);', ['1:1 it contains no policy']],
  [
    'a missing semicolon',
    'permit(principal, action, resource)',
    ['1:36 unexpected end of input; expected `;` or identifier'],
  ],
  [
    'an operator of another language',
    'permit(principal, action, resource)\nwhen { context.a = 3 };',
    ["2:8 '=' is not a valid operator in Cedar; try using '==' instead"],
  ],
  [
    'a misspelt variable',
    'permit(principal,\n  actoin, resource);',
    [
      '2:3 found an invalid variable in the policy scope: actoin; policy scopes must contain a `principal`, `action`, and `resource` element in that order',
    ],
  ],
  [
    'several mistakes',
    'permit(principal, action, resource) when { x };\nforbid(principal, action, resource) when { y };',
    ['x', 'y'].map(
      (name, index) =>
        `${index + 1}:44 invalid variable: ${name}; the valid Cedar variables are \`principal\`, \`action\`, \`resource\`, and \`context\`; did you mean to enclose \`${name}\` in quotes to make a string?`,
    ),
  ],
  [
    'columns count characters, not bytes',
    'permit(principal, action, resource) when { "äöü🐝" = "" };',
    ["1:44 '=' is not a valid operator in Cedar; try using '==' instead"],
  ],
  [
    'columns after characters of several bytes',
    '@id("äöü🐝") allow(principal, action, resource);',
    ['1:14 invalid policy effect: allow; effect must be either `permit` or `forbid`'],
  ],
  [
    'a template',
    'permit(principal, action, resource);\npermit(principal == ?principal, action, resource);',
    ['2:1 a template with ?principal or ?resource, which is never filled in'],
  ],
])('%s', (_reason, text, expected) => {
  expect(said(text)).toEqual(expected);
});

test('refuses a text that overflows the parser, and reads the next text', () => {
  const nested = `permit(principal, action, resource) when { ${'('.repeat(DEEP)}true${')'.repeat(DEEP)} };`;
  expect(said(nested)).toEqual([expect.stringContaining('1:1 nested too deeply to be read')]);
  expect(said('permit(principal, action, resource);')).toEqual([]);
});

test.each<[reason: string, text: string, expected: string | undefined]>([
  ['no entities', '[]', undefined],
  ['an entity', '[{"uid": {"type": "Role", "id": "admin"}, "attrs": {"level": 3}, "parents": []}]', undefined],
  ['broken JSON', '[{"uid": \n]', '2:1: not JSON: expected a value'],
  ['an object', '{}', 'must be a JSON list of entities'],
  ['no uid', '[{"attrs": {}, "parents": []}]', 'missing field `uid`'],
  [
    'a null',
    '[{"uid": {"type": "Role", "id": "admin"}, "attrs": {"level": null}, "parents": []}]',
    'in attribute `level` on `Role::"admin"`, found a `null`; JSON `null`s are not allowed in Cedar',
  ],
])('entities: %s', (_reason, text, expected) => {
  expect(entitiesFault(text)).toBe(expected);
});

test('refuses entities that are nested too deeply', () => {
  const attrs = `${'['.repeat(300)}1${']'.repeat(300)}`;
  const fault = entitiesFault(`[{"uid": {"type": "A", "id": "x"}, "attrs": {"a": ${attrs}}, "parents": []}]`);
  expect(fault).toContain('nested too deeply to be read');
  expect(entitiesFault('[]')).toBeUndefined();
});
