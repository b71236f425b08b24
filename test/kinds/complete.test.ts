// What a kind needs beside its schema and code, so that nobody who adds one forgets it: docs/extending.md has the steps.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '../../src/kinds/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const API_GROUP = 'toolhive.stacklok.dev';
const SINGULARS = KINDS.map(({ singular }) => singular).toSorted();

function foldersIn(path: string): readonly string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
}

it('src/kinds/index.ts lists what has a folder, and nothing else', () => {
  expect(foldersIn('src/kinds').filter((name) => name !== 'shared')).toEqual(SINGULARS);
});

it('every kind has fixtures', () => {
  expect(foldersIn('test/kinds')).toEqual(SINGULARS);
});

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** `verb resource` of our group, of every role that the reconciler is given. */
function rights(): ReadonlySet<string> {
  const folder = join(ROOT, 'manifests/install');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  const objects = files.flatMap((path) => parseAllDocuments(readFileSync(join(folder, path), 'utf8')));
  const rules: Rule[] = objects.flatMap((document) => document.toJS()?.rules ?? []);
  const ours = rules.filter(({ apiGroups = [] }) => apiGroups.includes(API_GROUP));
  return new Set(
    ours.flatMap(({ resources = [], verbs }) => resources.flatMap((of) => verbs.map((verb) => `${verb} ${of}`))),
  );
}

it('the reconciler that is installed may do with every kind what it has to', () => {
  const given = rights();
  const needed = KINDS.flatMap(({ plural }) => [
    ...['get', 'list', 'create', 'patch', 'delete'].map((verb) => `${verb} ${plural}`),
    `patch ${plural}/status`,
  ]);
  expect(needed.filter((right) => !given.has(right))).toEqual([]);
});
