// Tests that expressions are replaced as Flux replaces them.

import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { substitute } from './substitute.ts';
import { declaredVariables, readVariables, type Variables } from './variables.ts';

const VALUES = {
  HOST: 'wiki.example.com',
  PORT: '8080',
  ON: 'true',
  EMPTY: '',
  LINES: 'one\ntwo\n',
  LIST: '[a, b]',
  MAP: '{a: b}',
  NOTE: 'a # b',
  FIELD: 'a: b',
  NESTED: '${HOST}',
  quote: '"',
};

function given(values: Readonly<Record<string, string>> = VALUES): Variables {
  return declaredVariables('fleet', { values, from: [] });
}

/** Checks the value of a field whose text is `written`. */
function check(written: string, expected: Json, variables = given()): void {
  const [document] = readDocuments(`field: ${written}\n`, 'a.yaml');
  const { value, faults } = substitute(document?.value ?? null, variables, 10_000);
  expect([value, faults]).toEqual([{ field: expected }, []]);
}

test.each<[written: string, expected: Json, reason: string]>([
  ['${HOST}', 'wiki.example.com', 'a value'],
  ['https://${HOST}:${PORT}/x', 'https://wiki.example.com:8080/x', 'several in one text'],
  ['${PORT}', 8080, 'a number stays one'],
  ['"${PORT}"', 8080, 'quotes are lost in a build'],
  ['${ON}', true, 'so does a boolean'],
  ['${quote}${PORT}${quote}', '8080', 'as Flux documents it for texts that look like numbers'],
  ['80${PORT}', 808080, 'the whole text counts'],
  ['${MISSING:=5}', 5, 'a default'],
  ['${MISSING:-a b}', 'a b', 'the same as a shell spells it'],
  ['${MISSING=x}', 'x', 'and as envsubst does'],
  ['${EMPTY:=x}', 'x', 'an empty value has a default, too'],
  ['${EMPTY}', null, 'nothing'],
  ['a${EMPTY}b', 'ab', 'nothing within a text'],
  ['${MISSING:=https://${HOST}/}', 'https://wiki.example.com/', 'a default with an expression'],
  ['${MISSING:=}', null, 'an empty default'],
  ['$${HOST}', '${HOST}', 'a text that is to stay'],
  ['$HOST ${HOST} $', '$HOST wiki.example.com $', 'braces are needed'],
  ['${LINES}', 'onetwo', 'a value has one line'],
  ['${LIST}', '[a, b]', 'no value becomes a list'],
  ['${MAP}', '{a: b}', 'or a mapping'],
  ['${NOTE}', 'a # b', 'or a comment'],
  ['${FIELD}', 'a: b', 'or a field'],
  ['${NESTED}', '${HOST}', 'values are not looked at again'],
  ['|\n  run ${PORT}\n  end\n', 'run 8080\nend\n', 'texts of several lines'],
])('%j becomes %j: %s', (written, expected) => check(written, expected));

test('fields that accept only text get text', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', labels: { port: '${PORT}' }, annotations: { on: '${ON}' } },
    data: { port: '${PORT}', text: '${quote}${PORT}${quote}' },
  };
  expect(substitute(object, given(), 10_000).value).toEqual({
    ...object,
    metadata: { name: 'x', labels: { port: '8080' }, annotations: { on: 'true' } },
    data: { port: '8080', text: '8080' },
  });
});

test.each(['labels', 'annotations'])('an object that disables substitution in its %s is not changed', (marks) => {
  const metadata = { name: 'x', [marks]: { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } };
  const object = { metadata, data: { k: '${NOBODY} ${x^^}' } };
  expect(substitute(object, given(), 10_000)).toEqual({ value: object, faults: [], unknown: [], length: 0 });
});

test.each([
  ['${MISSING}', 'variable-unknown'],
  ['${A:=${MISSING}}', 'variable-unknown'],
  ['${HOST^^}', 'variable-expression'],
  ['${HOST/a/b}', 'variable-expression'],
  ['${HOST', 'variable-expression'],
  ['${HOST:=a', 'variable-expression'],
  ['${}', 'variable-expression'],
  ['${1}', 'variable-expression'],
  [`${'${A:='.repeat(9)}x${'}'.repeat(9)}`, 'variable-expression'],
  ['${HOST}'.repeat(10_000), 'variables-too-long'],
])('%.40s is refused with %s', (field, code) => {
  const { faults } = substitute({ field }, given(), 10_000);
  expect(faults.map((fault) => [fault.code, fault.pointer])).toEqual([[code, '/field']]);
});

test('an expression in a key is refused', () => {
  const { faults } = substitute({ 'a${HOST}': 1 }, given(), 10_000);
  expect(faults.map(({ code, pointer }) => [code, pointer])).toEqual([['variable-in-key', '/a${HOST}']]);
});

const OBJECTS: Readonly<Record<string, { data: Record<string, string> }>> = {
  'ConfigMap/settings': { data: { HOST: 'a', PORT: '1' } },
  'ConfigMap/later': { data: { PORT: '2' } },
  'Secret/secrets': { data: { TOKEN: Buffer.from('s3cret').toString('base64') } },
};

function clusterOf() {
  return {
    async get({ kind, name }: { readonly kind: string; readonly name: string }) {
      const found = OBJECTS[`${kind}/${name}`];
      return found && { apiVersion: 'v1', kind, metadata: { name }, ...found };
    },
  };
}

function from(...names: string[]) {
  return names.map((each) => {
    const [kind, name = ''] = each.split('/');
    return { kind: kind === 'Secret' ? 'Secret' : 'ConfigMap', name, optional: name === 'nobody' } as const;
  });
}

test('later objects take precedence over earlier objects, and skep.yaml over all objects', async () => {
  const substitution = {
    values: { HOST: 'b' },
    from: from('ConfigMap/settings', 'ConfigMap/nobody', 'ConfigMap/later'),
  };
  const variables = await readVariables(clusterOf(), 'home', 'fleet', substitution);
  check('${HOST} ${PORT} x', 'b 2 x', variables);
  await expect(readVariables(clusterOf(), 'home', 'fleet', { from: from('Secret/none') })).rejects.toMatchObject({
    code: 'variables-unreadable',
    message: expect.stringContaining('home/Secret/none'),
  });
});

test('the value of a Secret is used only in Secrets, and never in messages', async () => {
  const variables = await readVariables(clusterOf(), 'home', 'fleet', { from: from('Secret/secrets') });
  const secret = { apiVersion: 'v1', kind: 'Secret', stringData: { k: 'x ${TOKEN}' }, data: { k: '${TOKEN}' } };
  expect(substitute(secret, variables, 10_000).value).toMatchObject({
    stringData: { k: 'x s3cret' },
    data: { k: 's3cret' },
  });
  for (const object of [
    { apiVersion: 'v1', kind: 'ConfigMap', data: { k: '${TOKEN}' } },
    { apiVersion: 'v2', kind: 'Secret', data: { k: '${TOKEN}' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: '${TOKEN}' } },
    { apiVersion: 'v1', kind: 'Secret', type: '${A:=${TOKEN}}' },
  ]) {
    const { value, faults } = substitute(object, variables, 10_000);
    expect(faults.map(({ code }) => code)).toEqual(['variable-secret']);
    expect(JSON.stringify([value, faults])).not.toContain('s3cret');
  }
});

test('without a cluster, a name without a value may have a value in the cluster', () => {
  const variables = declaredVariables('fleet', { values: { HOST: 'a' }, from: from('ConfigMap/settings') });
  const { value, faults, unknown } = substitute({ a: '${HOST}', b: '${PORT}', c: '${PORT:=1}' }, variables, 10_000);
  expect([value, faults, unknown]).toEqual([{ a: 'a', b: '${PORT}', c: 1 }, [], ['/b']]);
});
