// Codes, code and documentation agree: every code that is raised is in a table, every table is in docs/errors.md.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { AREAS } from '#cli/error-codes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
);

async function tables(): Promise<Map<string, string>> {
  const codes = new Map<string, string>();
  for (const path of paths.filter((each) => each.endsWith('codes.ts'))) {
    const module: Record<string, Record<string, string>> = await import(pathToFileURL(join(SRC, path)).href);
    for (const [name, table] of Object.entries(module)) {
      if (!name.endsWith('_CODES')) continue;
      for (const [code, meaning] of Object.entries(table)) codes.set(code, meaning);
    }
  }
  return codes;
}

/** First arguments of `new Failure(...)` that are written out. */
function raised(path: string): string[] {
  const found: string[] = [];
  new Visitor({
    NewExpression(node) {
      const [first] = node.arguments;
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Failure' || first?.type !== 'Literal') return;
      found.push(String(first.value));
    },
  }).visit(parseSync(path, readFileSync(join(SRC, path), 'utf8')).program);
  return found;
}

test('every code that a Failure is raised with is in a table', async () => {
  const known = await tables();
  const unknown = paths.flatMap((path) =>
    raised(path)
      .filter((code) => !known.has(code))
      .map((code) => `${path}: ${code}`),
  );
  expect(unknown).toEqual([]);
});

test('docs/errors.md has a section for every code, and no other', async () => {
  const text = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const sections = [...text.matchAll(/^### `([^`]+)`$/gm)].map(([, code]) => code);
  expect(sections.toSorted()).toEqual([...(await tables()).keys()].toSorted());
});

test('every code says what it means and what to do', () => {
  // Two parts: a second sentence, or what follows a colon or semicolon.
  const short = AREAS.flatMap(({ codes }) => Object.entries(codes).filter(([, text]) => !/[:;.] \S/.test(text)));
  expect(short.map(([code]) => code)).toEqual([]);
});

test('a code is in one table alone', () => {
  const codes = AREAS.flatMap((area) => Object.keys(area.codes));
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
});

test('codes are kebab-case', async () => {
  expect([...(await tables()).keys()].filter((code) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(code))).toEqual([]);
});

/** Everything that tests say, their fixtures' names included. */
function testTexts(): string {
  const folders = [join(ROOT, 'test'), SRC];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => (folder === SRC ? path.endsWith('.test.ts') : /\.(ts|yaml|json|txt|md)$/.test(path)))
      .map((path) => join(folder, path)),
  );
  const own = join(ROOT, 'test', 'errors.test.ts');
  return files.flatMap((file) => [file, file === own ? '' : readFileSync(file, 'utf8')]).join('\n');
}

/** Shown by the status of an answer, by a message, or by hand: a test that names one of them takes it out of here. */
const SHOWN_OTHERWISE: readonly string[] = [
  'catalogue-claim-lost',
  'catalogue-unavailable',
  'client-list-too-long',
  'client-unknown',
  'control-hook-rate-limited',
  'cursor-invalid',
  'database-server-missing',
  'dev-first-run-failed',
  'git-ssh-missing',
  'introspection-busy',
  'policy-engine-failed',
  'provider-answer-invalid',
  'proxy-internal',
  'query-invalid',
  'rate-limited',
  'registry-not-found',
  'registry-not-synced',
  'rollback-history-unknown',
  'scope-missing',
  'server-name-invalid',
  'service-stopping',
  'source-answer',
  'source-auth-required',
  'source-endless',
  'source-too-large',
  'source-too-slow',
  'source-unsupported',
  'sse-closed',
  'sse-endpoint',
  'sse-refused',
  'sse-silent',
  'sse-unauthorized',
  'sse-unreachable',
  'state-not-saved',
  'version-invalid',
  'version-not-found',
  'watch-failed',
];

test('every code is one that something raises, and that a test meets', async () => {
  const codes = [...(await tables()).keys()];
  const program = paths
    .filter((path) => !path.endsWith('codes.ts'))
    .map((path) => readFileSync(join(SRC, path), 'utf8'))
    .join('\n');
  const dead = codes.filter((code) => ["'", '"', '`'].every((quote) => !program.includes(quote + code)));
  expect(dead).toEqual([]);
  const tests = testTexts();
  const unmet = codes.filter((code) => !tests.includes(code) && !tests.includes(reasonOf(code)));
  expect(unmet.filter((code) => !SHOWN_OTHERWISE.includes(code))).toEqual([]);
});

/** As conditions carry it: `child-denied` is `ChildDenied`. */
function reasonOf(code: string): string {
  return code.replaceAll(/(^|-)([a-z0-9])/g, (_all, _dash, letter: string) => letter.toUpperCase());
}
