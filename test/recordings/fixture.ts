// Recordings as files: a body that was seen before in the same recording is written as a reference to its step, so that a
// reader sees what did not change.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '#std/json.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import type { RecordedStep, Recording } from './play.ts';
import { printJson } from './print.ts';

export const FIXTURES = join(import.meta.dirname, 'fixtures');

/** Bodies shorter than this are repeated. */
const WORTH_A_REFERENCE = 400;

export function writeFixture(recording: Recording): void {
  const seen = new Map<string, string>();
  const steps = recording.steps.map((step, index) => {
    const { body, ...request } = step.request;
    const sent = body === undefined ? {} : { body: fold(seen, body, `body sent in step ${index + 1}`) };
    const received = fold(seen, step.answer.body, `answer of step ${index + 1}`);
    return {
      step: index + 1,
      reason: step.reason,
      request: { ...request, ...sent },
      answer: { ...step.answer, body: received },
    };
  });
  const text = printJson({ scenario: recording.scenario, about: recording.about, steps } as Json);
  writeFileSync(join(FIXTURES, `${recording.scenario}.json`), `${text}\n`);
}

export function readFixture(scenario: string): Recording {
  const file = JSON.parse(readFileSync(join(FIXTURES, `${scenario}.json`), 'utf8')) as Recording;
  const bodies = new Map<string, Json>();
  const steps = file.steps.map((step, index): RecordedStep => {
    const { body, ...request } = step.request;
    const sent = body === undefined ? {} : { body: unfold(bodies, body, `body sent in step ${index + 1}`) };
    const received = unfold(bodies, step.answer.body, `answer of step ${index + 1}`);
    return { reason: step.reason, request: { ...request, ...sent }, answer: { ...step.answer, body: received } };
  });
  return { scenario: file.scenario, about: file.about, steps };
}

function fold(seen: Map<string, string>, body: Json, name: string): Json {
  const text = canonicalJson(body);
  if (text.length < WORTH_A_REFERENCE) return body;
  const first = seen.get(text);
  if (first !== undefined) return { 'same as': first };
  seen.set(text, name);
  return body;
}

function unfold(bodies: Map<string, Json>, body: Json, name: string): Json {
  const reference = isObject(body) ? (body as JsonObject)['same as'] : undefined;
  if (typeof reference === 'string') return bodies.get(reference) ?? null;
  bodies.set(name, body);
  return body;
}
