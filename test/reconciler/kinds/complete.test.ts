// What a kind needs beside its schema and code, so that no one who adds one forgets it: docs/extending.md has the steps.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '#reconciler/kinds/index.ts';
import { readFixtures } from './fixture.ts';

const ROOT = join(import.meta.dirname, '../../..');
const API_GROUP = 'toolhive.stacklok.dev';
const SINGULARS = KINDS.map(({ singular }) => singular).toSorted();

function foldersIn(path: string): readonly string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
}

/** What several kinds share. */
const SHARED = ['auth', 'pods', 'proxy'];

it('src/reconciler/kinds/index.ts lists what has a folder, and nothing else', () => {
  expect(foldersIn('src/reconciler/kinds').filter((name) => !SHARED.includes(name))).toEqual(SINGULARS);
});

it('every kind has fixtures', () => {
  expect(foldersIn('test/reconciler/kinds')).toEqual(SINGULARS);
});

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** `verb group/resource` of the role in this file of manifests/install. */
function rightsIn(file: string): ReadonlySet<string> {
  const objects = parseAllDocuments(readFileSync(join(ROOT, 'manifests/install', file), 'utf8'));
  const rules: Rule[] = objects.flatMap((document) => document.toJS()?.rules ?? []);
  return new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((of) => verbs.map((verb) => `${verb} ${group}/${of}`))),
    ),
  );
}

/** Where the verbs are, one role or two. */
const ROLES = ['rights/fleet/fleet.yaml', 'one-team/rights.yaml'];

it.each(ROLES)('the reconciler that is installed with %s may do with every kind what it has to', (file) => {
  const given = rightsIn(file);
  const needed = KINDS.flatMap(({ plural }) => [
    ...['get', 'list', 'create', 'patch', 'delete'].map((verb) => `${verb} ${API_GROUP}/${plural}`),
    `patch ${API_GROUP}/${plural}/status`,
  ]);
  expect(needed.filter((right) => !given.has(right))).toEqual([]);
});

/** What the fixtures become. */
function madeKinds(): readonly string[] {
  const made = KINDS.flatMap((kind) =>
    readFixtures(kind)
      .filter(({ name }) => !name.startsWith('invalid-'))
      .flatMap(({ resource }) => kind.makes(resource)),
  );
  return [
    ...new Set(made.map(({ apiVersion, kind }) => `${apiVersion.split('/').at(-2) ?? ''}/${kind.toLowerCase()}`)),
  ];
}

it.each(ROLES)('the reconciler that is installed with %s may make whatever custom resources become', (file) => {
  const given = rightsIn(file);
  const needed = madeKinds().flatMap((made) => {
    const plural = made.endsWith('y') ? `${made.slice(0, -1)}ies` : `${made}s`;
    return ['get', 'list', 'create', 'patch', 'delete'].map((verb) => `${verb} ${plural}`);
  });
  expect(needed.length).toBeGreaterThan(40);
  expect(needed.filter((right) => !given.has(right))).toEqual([]);
});
