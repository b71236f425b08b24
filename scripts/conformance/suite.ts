// Runs the conformance suite against one URL and reads its results.

import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { fields, text } from '../../test/conformance/fixture/json.ts';
import type { Revision } from '../../test/harness/mcp-modes.ts';

const PACKAGE = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')));
const CLIENT = fileURLToPath(new URL('./client-process.ts', import.meta.url));
const CALL = fileURLToPath(new URL('./call-process.ts', import.meta.url));
/** A scenario that hangs is broken; the slowest takes about two seconds. */
const SCENARIO_TIMEOUT_MS = 15_000;

/** One check of one scenario; checks of one id that a scenario makes more than once are one, the worst. */
export interface CheckResult {
  readonly scenario: string;
  readonly check: string;
  readonly passed: boolean;
  /** Why not. */
  readonly message: string;
}

export interface SuiteResults {
  readonly checks: readonly CheckResult[];
  /** Scenarios that should have run and left no results. */
  readonly missing: readonly string[];
}

/** Scored scenarios, and those that the suite runs without scoring them unless they are of an extension. */
async function requiredScenarios(revision: Revision, leg: 'server' | 'client'): Promise<readonly string[]> {
  const file = join(PACKAGE, 'requirements', `${revision}.yaml`);
  const parsed = fields(parse(await readFile(file, 'utf8')));
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  const unscored = list(parsed.not_scored)
    .map(fields)
    .filter((entry) => entry.leg === leg && entry.reason !== 'extension');
  return [...list(parsed[leg]).map(text), ...unscored.map(({ scenario }) => text(scenario))];
}

export async function runServerSuite(url: string, revision: Revision): Promise<SuiteResults> {
  const args = ['server', '--url', url, '--requirements', revision, '--timeout', String(SCENARIO_TIMEOUT_MS)];
  return runSuite(args, await requiredScenarios(revision, 'server'));
}

/**
 * The official clients as `conformance client`. Scenarios of OAuth are left out: they test a client that finds the
 * authorization server of the URL it knows, and behind a proxy that is the proxy's.
 */
export async function runClientSuite(revision: Revision, env: Readonly<Record<string, string>>): Promise<SuiteResults> {
  const required = await requiredScenarios(revision, 'client');
  const scenarios = required.filter((scenario) => !isLogin(scenario) && !scenario.endsWith('-preservation'));
  return runClient(CLIENT, revision, scenarios, env);
}

/** `skep call` in the scenarios of OAuth. */
export async function runLoginSuite(revision: Revision): Promise<SuiteResults> {
  return runClient(CALL, revision, (await requiredScenarios(revision, 'client')).filter(isLogin), {});
}

function isLogin(scenario: string): boolean {
  return scenario.startsWith('auth/');
}

async function runClient(
  client: string,
  revision: Revision,
  scenarios: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<SuiteResults> {
  const command = `${process.execPath} ${client}`;
  const results: SuiteResults[] = [];
  for (const scenario of scenarios) {
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision];
    results.push(await runSuite(args, [scenario], env));
  }
  return {
    checks: results.flatMap(({ checks }) => checks),
    missing: results.flatMap(({ missing }) => missing),
  };
}

async function runSuite(
  args: readonly string[],
  scenarios: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<SuiteResults> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    await runProgram([...args, '-o', folder], env);
    return await readResults(folder, scenarios);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Its exit code says what the results say; where it fails altogether there are none. */
function runProgram(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const program = join(PACKAGE, 'dist', 'index.js');
  const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore', env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

async function readResults(folder: string, scenarios: readonly string[]): Promise<SuiteResults> {
  const checks: CheckResult[] = [];
  const seen = new Set<string>();
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('checks.json')) continue;
    const scenario = scenarioOf(name);
    if (!scenarios.includes(scenario)) continue;
    seen.add(scenario);
    const parsed: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'));
    checks.push(...worstChecks(scenario, Array.isArray(parsed) ? parsed : []));
  }
  return { checks, missing: scenarios.filter((scenario) => !seen.has(scenario)) };
}

/** `server-tools-list-2026-11-22T03-08-39-790Z/checks.json` holds the results of `tools-list`. */
function scenarioOf(file: string): string {
  return dirname(file)
    .replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '')
    .replace(/^server-/, '');
}

/** Least severe first. A check that was only skipped was never made. */
const SEVERITIES = ['SKIPPED', 'INFO', 'SUCCESS', 'WARNING', 'FAILURE'];
const PASSED = ['SUCCESS', 'INFO'];

function worstChecks(scenario: string, results: readonly unknown[]): readonly CheckResult[] {
  const byId = new Map<string, { readonly severity: number; readonly result: CheckResult }>();
  for (const found of results.map(fields)) {
    const [check, status] = [text(found.id), text(found.status)];
    const severity = SEVERITIES.indexOf(status);
    if (severity <= (byId.get(check)?.severity ?? -1)) continue;
    const passed = PASSED.includes(status);
    const message = passed ? '' : `${status}: ${text(found.errorMessage)}`;
    byId.set(check, { severity, result: { scenario, check, passed, message } });
  }
  return [...byId.values()].map(({ result }) => result);
}
