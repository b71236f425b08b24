// What a mode cannot express, as committed: each check with the sentence of the specification that says why. The lists may
// only shrink: an entry whose check passes is an error.

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { fields, text } from '../../test/conformance/fixture/json.ts';
import type { CheckResult, SuiteResults } from './suite.ts';

const FOLDER = new URL('../../test/conformance/expected/', import.meta.url);
const KEYS = ['revision', 'scenario', 'check', 'sentence', 'source', 'reason'] as const;

/** `check: *` stands for every check of the scenario. */
export type Expected = Readonly<Record<(typeof KEYS)[number], string>>;

export interface Comparison {
  readonly passed: number;
  /** Failed as the list says. */
  readonly expected: readonly CheckResult[];
  /** Failed, and the list does not say so. */
  readonly unexpected: readonly CheckResult[];
  /** On the list, and passed or never made. */
  readonly stale: readonly Expected[];
  readonly missing: readonly string[];
}

export async function readExpected(name: string): Promise<readonly Expected[]> {
  const file = new URL(`${name}.yaml`, FOLDER);
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  const parsed: unknown = parse(content);
  return (Array.isArray(parsed) ? parsed : []).map((entry) => readEntry(file, entry));
}

function readEntry(file: URL, entry: unknown): Expected {
  const given = fields(entry);
  const wrong = KEYS.find((key) => text(given[key]) === '') ?? Object.keys(given).find((key) => !isKey(key));
  if (wrong !== undefined) throw new Error(`${file.pathname}: ${wrong} of ${JSON.stringify(entry)}`);
  const [revision, scenario, check, sentence, source, reason] = KEYS.map((key) => text(given[key]));
  return {
    revision: text(revision),
    scenario: text(scenario),
    check: text(check),
    sentence: text(sentence),
    source: text(source),
    reason: text(reason),
  };
}

function isKey(key: string): boolean {
  return KEYS.some((known) => known === key);
}

function matches(entry: Expected, { scenario, check }: CheckResult): boolean {
  return entry.scenario === scenario && (entry.check === '*' || entry.check === check);
}

export function compareResults({ checks, missing }: SuiteResults, list: readonly Expected[]): Comparison {
  const failed = checks.filter(({ passed }) => !passed);
  const isExpected = (check: CheckResult) => list.some((entry) => matches(entry, check));
  return {
    passed: checks.length - failed.length,
    expected: failed.filter(isExpected),
    unexpected: failed.filter((check) => !isExpected(check)),
    stale: list.filter((entry) => !failed.some((check) => matches(entry, check))),
    missing: missing.filter((scenario) => !list.some((entry) => entry.scenario === scenario && entry.check === '*')),
  };
}

export function isClean({ unexpected, stale, missing }: Comparison): boolean {
  return unexpected.length === 0 && stale.length === 0 && missing.length === 0;
}
