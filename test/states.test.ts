// docs/states.md is true: it has every phase, every status field and every condition with its reasons, and no others.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { isObject, type JsonObject } from '#std/json.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/states.md'), 'utf8');
const SECTIONS = new Map(PAGE.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]));

function sectionOf({ kind }: Kind): string {
  return SECTIONS.get(kind) ?? '';
}

/** The cells of the rows below a head that starts with the word. */
function tableOf(section: string, head: string): readonly (readonly string[])[] {
  const lines = section.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rows = start < 0 ? [] : lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end < 0 ? undefined : end).map((row) => row.slice(2, -2).split(' | '));
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

function propertiesOf(schema: unknown): JsonObject {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {};
}

/** `syncStatus.phase`, `discoveredBackends[].name`: every field that holds a value. Conditions are alike everywhere. */
function fieldsOf(schema: unknown, path = ''): readonly string[] {
  if (path === 'conditions' || !isObject(schema)) return [path];
  if (isObject(schema.items)) {
    const inner = fieldsOf(schema.items, `${path}[]`);
    return Object.keys(propertiesOf(schema.items)).length === 0 ? [path] : inner;
  }
  const properties = Object.entries(propertiesOf(schema));
  if (properties.length === 0) return [path];
  return properties.flatMap(([name, field]) => fieldsOf(field, path === '' ? name : `${path}.${name}`));
}

function phasesOf({ schema }: Kind): readonly string[] {
  const { phase, validationStatus } = propertiesOf(schema.status);
  const found = phase ?? validationStatus;
  if (!isObject(found)) return [];
  const choices = Array.isArray(found.enum) ? found.enum : [];
  const consts = Array.isArray(found.anyOf) ? found.anyOf.filter(isObject).map((each) => each.const) : [];
  return [...choices, ...consts].map(String);
}

function statesOf(section: string): readonly string[] {
  const diagram = /```mermaid\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const lines = diagram.split('\n').slice(1);
  const names = lines.flatMap((line) => (line.split(':')[0] ?? '').split('-->').map((name) => name.trim()));
  return [...new Set(names)].filter((name) => name !== '' && name !== '[*]');
}

interface Reported {
  readonly file: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** The conditions of every status that a fixture of the kind expects. */
function expectedConditions({ singular }: Kind): readonly Reported[] {
  const folder = join(ROOT, 'test/reconciler/kinds', singular, 'expected');
  const files = readdirSync(folder).filter((name) => name.endsWith('.status.yaml'));
  return files.flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), 'utf8')).flatMap((document) => {
      const { status } = document.toJS();
      return status.conditions.map((condition: object) => ({ ...condition, file: name }));
    }),
  );
}

/** Conditions that several kinds have. */
const SHARED = [
  'pods/progress.ts',
  'proxy/conditions.ts',
  'pods/image-condition.ts',
  'proxy/session-condition.ts',
  'pods/pod-template-conditions.ts',
  'config-status.ts',
  'shared-settings.ts',
  'tools-lock.ts',
];

/** Capitalised words in quotes: whatever else they are, reasons and types of conditions are among them. */
function wordsOf(files: readonly string[]): ReadonlySet<string> {
  const texts = files.map((file) => readFileSync(join(ROOT, 'src/reconciler/kinds', file), 'utf8'));
  const words = texts.flatMap((text) => [...text.matchAll(/'([A-Z][A-Za-z]+\d?)'/g)].map(([, word = '']) => word));
  return new Set(words);
}

function statusFiles({ singular }: Kind): readonly string[] {
  const names = readdirSync(join(ROOT, 'src/reconciler/kinds', singular));
  return names
    .filter((name) => ['status.ts', 'conditions.ts', 'sync-status.ts'].includes(name))
    .map((name) => `${singular}/${name}`);
}

/** Words of status code that are neither: objects, values of fields, parts of names. */
const OTHERS = new Set([
  ...KINDS.flatMap((kind) => [kind.kind, ...phasesOf(kind)]),
  ...['Deployment', 'StatefulSet', 'ConfigMap', 'Secret', 'True', 'False', 'Unknown'],
  ...['NotStarted', 'Deploying', 'Unhealthy', 'Error', 'Complete', 'ToolConfig', 'ExternalAuthConfig'],
  ...['AuthServerRef', 'OIDCConfigRef', 'TelemetryConfigRef', 'AuthzConfigRef', 'WebhookConfig'],
  ...['Default', 'Backend', 'Discovered'],
]);

/** Made of two parts in the code. */
const COMPOSED =
  /^(ToolConfig|ExternalAuthConfig|AuthServerRef|OIDCConfigRef|TelemetryConfigRef|AuthzConfigRef|WebhookConfig)(Validated|Valid|Invalid|NotFound|FetchError|Error)$|AuthConfig(-<name>)?$/;

describe.each(KINDS.map((kind) => [kind.kind, kind] as const))('%s', (_name, kind) => {
  const section = sectionOf(kind);
  const conditions = tableOf(section, 'condition');
  const documented = new Map(
    conditions.map(([type = '', holds = '', fails = '']) => [quoted(type)[0], { holds, fails }]),
  );

  test('the diagram has the phases of the schema', () => {
    expect(statesOf(section).toSorted()).toEqual(phasesOf(kind).toSorted());
  });

  test('the table has the fields of the schema', () => {
    const rows = tableOf(section, 'field').map(([field = '']) => quoted(field)[0]);
    expect(rows.toSorted()).toEqual(fieldsOf(kind.schema.status).toSorted());
  });

  test('every condition that a fixture expects is in the table, with its reason', () => {
    for (const { type, status, reason } of expectedConditions(kind)) {
      const row = documented.get(type.replace(/^(Backend|Discovered)AuthConfig-.*$/, '$1AuthConfig-<name>'));
      const where = status === 'True' ? row?.holds : row?.fails;
      const known = quoted(where ?? '');
      const isCode = type === 'Ready' && (where ?? '').includes('code of a refusal');
      expect(isCode || known.includes(reason), `${type} ${status} ${reason}`).toBe(true);
    }
  });

  test('every reason in the code of the status is in the table', () => {
    const words = [...wordsOf(statusFiles(kind))].filter((word) => !OTHERS.has(word));
    const known = new Set(conditions.flatMap((row) => row.flatMap(quoted)));
    expect(words.filter((word) => !known.has(word))).toEqual([]);
  });

  test('every reason in the table is in the code', () => {
    const words = wordsOf([...statusFiles(kind), ...SHARED]);
    const known = conditions.flatMap((row) => row.flatMap(quoted)).filter((word) => !COMPOSED.test(word));
    expect(known.filter((word) => !words.has(word))).toEqual([]);
  });

  test('Ready is among its conditions, in every status', () => {
    expect([...documented.keys()]).toContain('Ready');
    const statuses = expectedConditions(kind).filter(({ type }) => type === 'Ready');
    expect(statuses).toHaveLength(new Set(expectedConditions(kind).map(({ file }) => file)).size);
  });
});

test('every reason in the code that kinds share is on the page', () => {
  const words = [...wordsOf(SHARED)].filter((word) => !OTHERS.has(word));
  expect(words.filter((word) => !PAGE.includes(`\`${word}\``))).toEqual([]);
});
