// Runs one step or one loop item with its condition, time limit, retries and failure handling.

import type { Json, JsonObject } from '#std/json.ts';
import type { CompiledCall, Retry } from './definition.ts';
import { expandCondition } from './expand.ts';
import type { WorkflowClock } from './ports.ts';

/** Result of one try. */
export type Performed =
  | { readonly kind: 'done'; readonly output: Json; readonly content?: JsonObject; readonly skipRemaining?: true }
  /** `ends` is true if the failure ends the workflow regardless of onError. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean; readonly ends?: true };

export function failedTry(message: string, retryable: boolean): Performed {
  return { kind: 'failed', message, retryable };
}

export type AttemptOutcome =
  | Exclude<Performed, { readonly kind: 'failed' }>
  | { readonly kind: 'skipped'; readonly output: Json }
  /** The step failed, and the workflow continues with its defaultResults. */
  | { readonly kind: 'continued'; readonly output: Json; readonly message: string }
  | { readonly kind: 'aborted'; readonly message: string }
  /** The run ended while the step was running. */
  | { readonly kind: 'cancelled' };

export interface AttemptInput {
  readonly call: Pick<CompiledCall, 'condition' | 'timeoutMs' | 'action' | 'retry' | 'defaultResults'>;
  readonly clock: WorkflowClock;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  /** Returns the data for the condition. */
  readonly data: () => JsonObject;
  readonly retried: () => void;
  /** True if `perform` itself handles the time limit (a person did not answer). */
  readonly timesOutItself?: true;
  perform(signal: AbortSignal): Promise<Performed>;
}

export async function tryStep(attempt: AttemptInput): Promise<AttemptOutcome> {
  const { call, data, signal } = attempt;
  if (call.condition !== undefined) {
    const condition = expandCondition(call.condition, data());
    if (!condition.ok) return settleFailure(attempt, { kind: 'failed', message: condition.message, retryable: false });
    if (!condition.value) return { kind: 'skipped', output: call.defaultResults ?? {} };
  }
  const performed = await performInTime(attempt);
  if (signal.aborted) return { kind: 'cancelled' };
  return performed.kind === 'failed' ? settleFailure(attempt, performed) : performed;
}

function settleFailure(
  { call }: AttemptInput,
  { message, ends }: Extract<Performed, { kind: 'failed' }>,
): AttemptOutcome {
  if (call.action !== 'continue' || ends === true) return { kind: 'aborted', message };
  return { kind: 'continued', output: call.defaultResults ?? {}, message };
}

/** Performs a step. One time limit applies to all tries together. */
async function performInTime(attempt: AttemptInput): Promise<Performed> {
  const { call, clock, signal } = attempt;
  const own = new AbortController();
  const stopTimer = clock.after(call.timeoutMs, () => own.abort());
  try {
    const performed = await performAgain(attempt, AbortSignal.any([signal, own.signal]));
    const late = own.signal.aborted && !signal.aborted && attempt.timesOutItself !== true;
    if (!late || performed.kind === 'done') return performed;
    return { kind: 'failed', message: `it took more than ${call.timeoutMs} ms`, retryable: false };
  } finally {
    stopTimer();
  }
}

async function performAgain({ call, clock, perform, retried }: AttemptInput, signal: AbortSignal): Promise<Performed> {
  const { count, delayMs } = call.retry ?? { count: 0, delayMs: 0 };
  for (let tries = 1; ; tries += 1) {
    const performed = await perform(signal);
    const again = performed.kind === 'failed' && performed.retryable && tries <= count && !signal.aborted;
    if (!again) return performed.kind === 'failed' ? withTries(performed, tries) : performed;
    await sleep(clock, retryDelay({ count, delayMs }, tries, clock.random(2).readUInt16BE() / 0xffff), signal);
    if (signal.aborted) return performed;
    retried();
  }
}

function withTries<T extends { readonly message: string }>(failed: T, tries: number): T {
  return tries === 1 ? failed : { ...failed, message: `${failed.message} (after ${tries} tries)` };
}

/**
 * Returns the delay before a retry. The delay grows by half each time, up to 60 times `delayMs`, and is then varied by
 * up to half. `chance` is a random number from 0 to 1.
 */
export function retryDelay({ delayMs }: Retry, tries: number, chance: number): number {
  return Math.min(delayMs * 1.5 ** (tries - 1), delayMs * 60) * (0.5 + chance);
}

function sleep(clock: WorkflowClock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.after(ms, resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(stopTimer);
}
