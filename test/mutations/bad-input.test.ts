// Whatever a file holds, `skep validate` says where it is wrong and does not fall over: over broken texts and mutated
// manifests of every kind. SKEP_SEED and SKEP_COUNT choose others, and more.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { validate } from '#reconciler/run/validate.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import { errorsPage } from '../../scripts/errors-page.ts';
import { type Random, seeded } from '../harness/random.ts';
import { skep } from '../harness/skep.ts';
import { FOLDER, readFixtures } from '../reconciler/kinds/fixture.ts';
import { brokenText } from './break-text.ts';
import { mutated } from './mutate.ts';

const SEED = Number(process.env.SKEP_SEED ?? 20261121);
const COUNT = Number(process.env.SKEP_COUNT ?? 1000);
const API_GROUP = 'toolhive.stacklok.dev';
/** Of processor time, which other programs do not take: far more than any file needs; a hang takes longer. */
const SLOW_MS = 10_000;

const dir = mkdtempSync(join(tmpdir(), 'bad-input-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Bad {
  readonly what: string;
  readonly text: string;
}

/** Three of four are broken texts, one is a manifest with something wrong in it. */
function badFiles(random: Random, count: number): Bad[] {
  const sources = KINDS.flatMap((kind) => {
    const folder = join(FOLDER, kind.singular);
    const files = readdirSync(folder).filter((file) => file.startsWith('full'));
    const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8'));
    const values = readFixtures(kind).filter(({ name }) => name.startsWith('full'));
    return texts.map((text, index) => ({ text, written: values[index]?.written ?? {} }));
  });
  return Array.from({ length: count }, () => {
    const { text, written } = random.pick(sources);
    return random.chance(0.25) ? mutated(random, written) : brokenText(random, text);
  });
}

function problemsOf(text: string): readonly Problem[] {
  const documents = [{ path: 'bad.yaml', oid: sha256(text), text }];
  return validate({ documents, kinds: KINDS, apiGroup: API_GROUP }).problems;
}

const bad = badFiles(seeded(SEED), COUNT);

test(`${COUNT} bad files of seed ${SEED}: no crash, no hang, and every problem has its place in the file`, () => {
  const known = errorsPage();
  let wrong = 0;
  for (const { what, text } of bad) {
    const start = process.cpuUsage();
    const problems = problemsOf(text);
    expect(process.cpuUsage(start).user / 1000, what).toBeLessThan(SLOW_MS);
    const lines = text.split(/\r\n|[\r\n]/);
    for (const { code, message, place } of problems) {
      const reported = `${what}: ${code} ${message}`;
      expect(place?.file, reported).toBe('bad.yaml');
      expect(place?.line, reported).toBeGreaterThanOrEqual(1);
      expect(place?.line, reported).toBeLessThanOrEqual(lines.length);
      expect(place?.column, reported).toBeGreaterThanOrEqual(1);
      expect(known, reported).toContain(`### \`${code}\`\n`);
      expect(message, reported).toMatch(/^\S[\s\S]{8,}$/);
      expect(message, reported).not.toMatch(/undefined|\[object|NaN|RangeError|TypeError|node_modules/);
    }
    if (problems.length > 0) wrong += 1;
  }
  expect(wrong).toBeGreaterThan(COUNT / 2);
});

test('the command tells of many at once, in text and in JSON', async () => {
  const folder = join(dir, 'files');
  mkdirSync(folder);
  const some = bad.slice(0, 200);
  for (const [number, { text }] of some.entries()) writeFileSync(join(folder, `${number}.yaml`), text);
  const [asText, asJson] = [
    await skep(['validate', folder], { cwd: dir }),
    await skep(['validate', folder, '-o', 'json'], { cwd: dir }),
  ];
  expect([asText.code, asJson.code, asText.stderr, asJson.stderr]).toEqual([3, 3, '', '']);
  const { problems, summary } = JSON.parse(asJson.stdout);
  expect(summary.files).toBe(some.length);
  const placeless = problems.filter(({ file, line, column }: Record<string, unknown>) => !(file && line && column));
  expect(placeless).toEqual([]);
  const starts = asText.stdout.split('\n').filter((line) => line.startsWith(folder));
  expect(starts.filter((line) => !/\.yaml:\d+:\d+: (error|warning) [a-z-]+: /.test(line))).toEqual([]);
  expect(starts).toHaveLength(problems.length);
});

describe('a slip of the fingers is answered with what was meant', () => {
  describe.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
    const fixtures = readFixtures(kind).filter(({ name }) => name.startsWith('full'));

    test('in the name of every field', () => {
      for (const { written } of fixtures) {
        for (const { key, object, pointer } of misspeltFields(kind, written)) {
          const problem = problemsOf(JSON.stringify(object)).find((each) => each.pointer === pointer);
          expect(problem?.message, `${pointer} for ${key}`).toMatch(/ Did you mean "\w+"\?$/);
        }
      }
    });

    test('in every word of a choice', () => {
      for (const { written } of fixtures) {
        for (const { word, object, pointer } of misspeltWords(kind, written)) {
          const problem = problemsOf(JSON.stringify(object)).find((each) => each.pointer === pointer);
          expect(problem?.message, `${pointer} for ${word}`).toMatch(/must be one of ".*\. Did you mean "[\w.:-]+"\?$/);
        }
      }
    });
  });
});

/** Two letters in the middle changed places, so that no other word comes of it. */
function misspelt(word: string): string | undefined {
  for (let at = 1; at < word.length - 2; at++) {
    const slip = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
    if (slip !== word) return slip;
  }
  return undefined;
}

interface Visit {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly pointer: string;
  readonly rebuild: (value: Json) => JsonObject;
}

/** Every value of the spec that the schema describes. */
function visits(kind: Kind, written: JsonObject): Visit[] {
  const spec = written.spec ?? {};
  return walk({
    schema: kind.schema.spec,
    value: spec,
    pointer: '/spec',
    rebuild: (next) => ({ ...written, spec: next }),
  });
}

function walk(visit: Visit): Visit[] {
  const { schema, value, pointer, rebuild } = visit;
  const { properties, items } = schema;
  if (Array.isArray(value) && isObject(items)) {
    return value.flatMap((item, index) =>
      walk({
        schema: items,
        value: item,
        pointer: `${pointer}/${index}`,
        rebuild: (next) => rebuild(value.with(index, next)),
      }),
    );
  }
  if (!isObject(value) || !isObject(properties)) return [visit];
  const below = Object.entries(value).flatMap(([key, child]) => {
    const field = properties[key];
    if (!isObject(field)) return [];
    const inner = (next: Json) => rebuild({ ...value, [key]: next });
    return walk({ schema: field, value: child ?? null, pointer: `${pointer}/${key}`, rebuild: inner });
  });
  return [visit, ...below];
}

function misspeltFields(kind: Kind, written: JsonObject): { key: string; object: JsonObject; pointer: string }[] {
  return visits(kind, written).flatMap(({ schema, value, pointer, rebuild }) => {
    if (!isObject(value) || !isObject(schema.properties)) return [];
    const { properties } = schema;
    return Object.keys(value).flatMap((key) => {
      const slip = key.length < 4 ? undefined : misspelt(key);
      if (slip === undefined || properties[slip] !== undefined) return [];
      const { [key]: child, ...rest } = value;
      return [{ key, object: rebuild({ ...rest, [slip]: child }), pointer: `${pointer}/${slip}` }];
    });
  });
}

function misspeltWords(kind: Kind, written: JsonObject): { word: string; object: JsonObject; pointer: string }[] {
  return visits(kind, written).flatMap(({ schema, value, pointer, rebuild }) => {
    if (!Array.isArray(schema.enum) || typeof value !== 'string') return [];
    const slip = value.length < 4 ? undefined : misspelt(value);
    return slip === undefined ? [] : [{ word: value, object: rebuild(slip), pointer }];
  });
}
