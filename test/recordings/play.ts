// Plays one scenario against an API server and gives what was said, in symbols.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '#std/json.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import type { Api, Call } from './api.ts';
import type { Symbols } from './normalise.ts';
import { newSymbols, normalise, normaliseRequest } from './normalise.ts';
import type { Answer, Saved, Scenario, Step } from './scenario.ts';
import { at } from './scenario.ts';

export interface RecordedStep {
  readonly reason: string;
  readonly request: JsonObject;
  readonly answer: { readonly status: number; readonly headers: JsonObject; readonly body: Json };
}

export interface Recording {
  readonly scenario: string;
  readonly about: string;
  readonly steps: readonly RecordedStep[];
}

export interface Stage {
  readonly api: Api;
  /** Called before a write of a scenario with `ticks`: resolves when the server's clock shows another second. */
  readonly nextSecond: () => Promise<void>;
  /** Called when the scenario's namespace was made: a real server fills it with a few objects of its own. */
  readonly namespaceReady: (namespace: string) => Promise<void>;
  /** How long to wait for what controllers do. */
  readonly deadlineMs: number;
}

const HEADERS = ['content-type', 'warning', 'retry-after', 'location', 'allow'] as const;
const POLL_MS = 100;

/**
 * The steps of a scenario, each when it is done. Throws where a step cannot be asked because an earlier answer lacks what
 * it needs. What the scenario makes stays: `clear` removes it.
 */
export async function* play(stage: Stage, scenario: Scenario): AsyncGenerator<RecordedStep> {
  const namespace = namespaceOf(scenario);
  await makeNamespace(stage, namespace);
  const symbols = newSymbols();
  let saved: Saved = { ns: namespace };
  for (const step of scenario.steps) {
    const call = callOf(step, saved);
    if (scenario.ticks === true && call.method !== 'GET') await stage.nextSecond();
    const answer = await ask(stage, step, call, saved);
    yield { reason: step.reason, request: requestOf(symbols, step, call), answer: answerOf(symbols, step, answer) };
    saved = { ...saved, ...keep(step, answer) };
  }
}

function callOf(step: Step, saved: Saved): Call {
  const { method, contentType, accept } = step;
  const body = step.text ?? (step.body === undefined ? undefined : JSON.stringify(bodyOf(step.body, saved)));
  return {
    method,
    path: fill(step.path, saved),
    query: Object.fromEntries(Object.entries(step.query ?? {}).map(([key, value]) => [key, fill(value, saved)])),
    ...(contentType === undefined ? {} : { contentType }),
    ...(accept === undefined ? {} : { accept }),
    ...(body === undefined ? {} : { body: step.text === undefined ? body : fill(body, saved) }),
  };
}

function bodyOf(body: Exclude<Step['body'], undefined>, saved: Saved): Json {
  return typeof body === 'function' ? body(saved) : fillAll(body, saved);
}

function fill(text: string, saved: Saved): string {
  return text.replace(/\$\{(\w+)\}/g, (_all, name: string) => {
    const value = saved[name];
    if (typeof value !== 'string') throw new Error(`nothing saved as ${name}, needed in ${text}`);
    return value;
  });
}

function fillAll(value: Json, saved: Saved): Json {
  if (typeof value === 'string') return fill(value, saved);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, saved));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, fillAll(child ?? null, saved)]));
}

async function ask({ api, deadlineMs }: Stage, step: Step, call: Call, saved: Saved): Promise<Answer> {
  let answer = await api.call(call);
  const { until } = step;
  if (until === undefined) return answer;
  const deadline = Date.now() + deadlineMs;
  let calmSince = Date.now();
  while (!until(answer, saved) || Date.now() - calmSince < (step.calmMs ?? 0)) {
    if (Date.now() > deadline)
      throw new Error(`not within time: ${step.reason}; last seen: ${JSON.stringify(answer.body)}`);
    await sleep(POLL_MS);
    const next = await api.call(call);
    if (canonicalJson(next.body) !== canonicalJson(answer.body)) calmSince = Date.now();
    answer = next;
  }
  return answer;
}

function keep(step: Step, answer: Answer): Record<string, Json> {
  const kept: Record<string, Json> = {};
  for (const [name, pointer] of Object.entries(step.save ?? {})) {
    const value = at(answer.body, pointer);
    if (value === undefined) throw new Error(`no ${pointer} after: ${step.reason}: ${JSON.stringify(answer.body)}`);
    kept[name] = value;
  }
  return kept;
}

function requestOf(symbols: Symbols, step: Step, call: Call): JsonObject {
  const query = Object.entries(call.query).map(([key, value]) => [key, queryValue(symbols, step, key, value)] as const);
  return {
    method: call.method,
    path: normaliseRequest(symbols, call.path),
    ...(query.length === 0 ? {} : { query: Object.fromEntries(query) }),
    ...(call.contentType === undefined ? {} : { contentType: call.contentType }),
    ...(call.accept === undefined ? {} : { accept: call.accept }),
    ...sentOf(symbols, step, call),
  };
}

function sentOf(symbols: Symbols, { text, bodyName }: Step, { body }: Call): JsonObject {
  if (text !== undefined) return { text };
  if (bodyName !== undefined) return { body: bodyName };
  return body === undefined ? {} : { body: normaliseRequest(symbols, JSON.parse(body) as Json) };
}

function queryValue(symbols: Symbols, step: Step, key: string, value: string): string {
  const isSaved = step.query?.[key]?.startsWith('${') === true;
  if (key === 'continue' && isSaved) return '<token>';
  if (key === 'resourceVersion') return symbols.versions.get(value) ?? (isSaved ? '<now>' : value);
  return value;
}

function answerOf(symbols: Symbols, step: Step, answer: Answer): RecordedStep['answer'] {
  const headers = Object.fromEntries(
    HEADERS.filter((name) => answer.headers[name] !== undefined).map((name) => [name, answer.headers[name]]),
  );
  const picked = step.pick === undefined ? answer.body : step.pick(answer.body);
  return { status: answer.status, headers, body: normalise(symbols, picked) };
}

function namespaceOf(scenario: Scenario): string {
  return `rec-${scenario.name}`;
}

async function makeNamespace(stage: Stage, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const made = await stage.api.call({
    method: 'POST',
    path: '/api/v1/namespaces',
    query: {},
    contentType: 'application/json',
    body,
  });
  if (made.status !== 201) throw new Error(`namespace ${name}: ${made.status} ${JSON.stringify(made.body)}`);
  await stage.namespaceReady(name);
}

/** Deletes what the scenario makes and waits until it is gone. */
export async function clear({ api, deadlineMs }: Stage, scenario: Scenario): Promise<void> {
  for (const path of [...(scenario.outside ?? []), `/api/v1/namespaces/${namespaceOf(scenario)}`]) {
    const call: Call = { method: 'DELETE', path, query: { propagationPolicy: 'Background' } };
    const deadline = Date.now() + deadlineMs;
    for (
      let answer = await api.call(call);
      answer.status !== 404;
      answer = await api.call({ ...call, method: 'GET' })
    ) {
      if (Date.now() > deadline) throw new Error(`${path} is still there: ${JSON.stringify(answer.body)}`);
      await sleep(POLL_MS);
    }
  }
}
