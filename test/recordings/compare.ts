// What differs between two recordings of one scenario, as lines that name the place.

import type { Json } from '#std/json.ts';
import { canonicalJson, isObject, pointerToken } from '#std/json.ts';
import type { RecordedStep } from './play.ts';

export interface Difference {
  /** Counted from 1. */
  readonly step: number;
  readonly reason: string;
  /** JSON pointer into `{request, answer}`. */
  readonly pointer: string;
  readonly real: string;
  readonly ours: string;
}

const SHOWN = 300;

/** `ours` may have ended early: then only the steps that it has are compared. */
export function compareSteps(real: readonly RecordedStep[], ours: readonly RecordedStep[]): Difference[] {
  return ours.flatMap((step, index) => {
    const expected = real[index];
    const reason = `${index + 1}. ${step.reason}`;
    if (expected === undefined) return [{ step: index + 1, reason, pointer: '', real: 'no such step', ours: 'a step' }];
    const found: Difference[] = [];
    compareJson(pick(expected), pick(step), '', (pointer, a, b) => {
      found.push({ step: index + 1, reason: step.reason, pointer, real: show(a), ours: show(b) });
    });
    return found;
  });
}

function pick({ request, answer }: RecordedStep): Json {
  return { request, answer: { ...answer } };
}

type Report = (pointer: string, real: Json | undefined, ours: Json | undefined) => void;

function compareJson(real: Json | undefined, ours: Json | undefined, pointer: string, report: Report): void {
  if (canonicalJson(real) === canonicalJson(ours)) return;
  if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length) {
    for (const [index, item] of real.entries()) compareJson(item, ours[index], `${pointer}/${index}`, report);
    return;
  }
  if (!isObject(real) || !isObject(ours)) {
    report(pointer, real, ours);
    return;
  }
  for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
    compareJson(real[key], ours[key], `${pointer}/${pointerToken(key)}`, report);
  }
}

function show(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}... (${text.length} characters)`;
}
