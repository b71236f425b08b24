// What docs/comparison.md says that `skep validate` finds of the forty seeded faults is what it finds.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { runValidation } from '#cli/offline/validation.ts';
import type { Problem } from '#std/problem.ts';

const FAULTS = fileURLToPath(new URL('faults', import.meta.url));
const NAMESPACES = fileURLToPath(new URL('namespaces.yaml', import.meta.url));
const GUIDE = readFileSync(fileURLToPath(new URL('../../docs/comparison.md', import.meta.url)), 'utf8');
const MARK = '# <- wrong';

const names = readdirSync(FAULTS).filter((name) => /^\d.*(?<!\.before)\.yaml$/.test(name));

interface Found {
  readonly name: string;
  /** What the table says: `error`, `warning` or nothing. */
  readonly verdict: string;
  readonly isAtMark: boolean;
}

let found: readonly Found[];

beforeAll(async () => {
  found = await Promise.all(names.map(find));
});

/** By what is reported of the document that holds the mark. */
async function find(name: string): Promise<Found> {
  const path = join(FAULTS, name);
  const folders = [path, NAMESPACES].map((each) => ({ path: each, ignore: [] }));
  const request = { folders, schemas: [], apiGroup: 'toolhive.stacklok.dev', policies: ['builtin'] };
  const { problems } = await runValidation(request, undefined);
  const lines = readFileSync(path, 'utf8').split('\n');
  const marked = lines.findIndex((line) => line.endsWith(MARK)) + 1;
  const start = lines.lastIndexOf('---', marked - 1) + 1;
  const end = lines.indexOf('---', marked);
  const reported = problems.filter(({ place }) => {
    if (place?.file !== path) return false;
    const line = place?.line ?? 0;
    return line > start && (end < 0 || line <= end);
  });
  const severities = reported.map(({ severity }: Problem) => severity);
  const verdict = severities.includes('error') ? 'error' : (severities[0] ?? '');
  return { name, verdict, isAtMark: reported.some(({ place }) => place?.line === marked) };
}

test('there are forty faults, each says what is wrong and where', () => {
  expect(names).toHaveLength(40);
  for (const name of names) {
    const text = readFileSync(join(FAULTS, name), 'utf8');
    expect(text, name).toMatch(/^# Wrong: /);
    expect(text.split(MARK), name).toHaveLength(2);
  }
});

test('the table says what is found', () => {
  const rows = [...GUIDE.matchAll(/^\| \[(\d\d)\]\(([^)]+)\) \| [^|]+ \| ([a-z]*) ?\|/gm)];
  expect(rows.map(([, number, link, verdict]) => `${number} ${link} ${verdict}`)).toEqual(
    found.map(({ name, verdict }) => `${name.slice(0, 2)} ../test/comparison/faults/${name} ${verdict}`),
  );
});

test('the sums are right', () => {
  const all = found.filter(({ verdict }) => verdict !== '');
  const exact = all.filter(({ isAtMark }) => isAtMark);
  expect(GUIDE).toContain(`**${all.length}** of 40; for ${exact.length} of them it reports the marked line`);
});
