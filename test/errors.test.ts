// Codes, code and documentation agree: every code that is raised is in a table, every table is in docs/errors.md.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { AREAS } from '../src/main/error-codes.ts';

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

test('what an author meets says what is wrong and what to do', () => {
  const titles = [
    'Reading YAML and JSON',
    'Schemas of custom resources',
    'Rules of the kinds',
    'Workflows of virtual MCP servers',
    'The run',
  ];
  const areas = AREAS.filter(({ title }) => titles.includes(title));
  expect(areas).toHaveLength(titles.length);
  // Two parts: a second sentence, or what follows a colon or semicolon.
  const short = areas.flatMap(({ codes }) => Object.entries(codes).filter(([, text]) => !/[:;.] \S/.test(text)));
  expect(short.map(([code]) => code)).toEqual([]);
});

test('codes are kebab-case', async () => {
  expect([...(await tables()).keys()].filter((code) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(code))).toEqual([]);
});
