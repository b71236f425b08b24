// The writes of a recording: what lived before, what was asked, what the server made of it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Json } from '#std/json.ts';
import { isObject } from '#std/json.ts';
import type { RecordedStep, Recording } from './play.ts';
import { APPLY_PATCH, at } from './scenario.ts';

export interface Write {
  readonly scenario: string;
  readonly reason: string;
  readonly isApply: boolean;
  readonly query: Readonly<Record<string, string>>;
  /** Absent for the object itself. */
  readonly subresource?: string;
  readonly before?: KubeObject;
  /** As sent; for a JSON patch a list. */
  readonly sent: Json;
  readonly status: number;
  readonly answer: Json;
}

/** What a server keeps apart from the object: the last segment of a path that has one. */
const SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'scale']);

/** All POST, PUT and PATCH requests with a JSON body, each with the object as it lived then. */
export function writesOf(recording: Recording): Write[] {
  const living = new Map<string, KubeObject>();
  return recording.steps.flatMap((step) => {
    const { path, subresource } = placeOf(step);
    const found = writeOf(recording.scenario, step, living.get(path), subresource);
    remember(living, step, path);
    return found === undefined ? [] : [found];
  });
}

function writeOf(
  scenario: string,
  step: RecordedStep,
  before: KubeObject | undefined,
  subresource: string | undefined,
): Write | undefined {
  const { method, query, contentType, body } = step.request;
  if (method === 'GET' || method === 'DELETE' || body === undefined) return undefined;
  return {
    scenario,
    reason: step.reason,
    isApply: contentType === APPLY_PATCH,
    query: (query ?? {}) as Record<string, string>,
    ...(subresource === undefined ? {} : { subresource }),
    ...(before === undefined ? {} : { before }),
    sent: body,
    status: step.answer.status,
    answer: step.answer.body,
  };
}

function placeOf(step: RecordedStep): { path: string; subresource?: string } {
  const path = String(step.request.path);
  if (step.request.method === 'POST') return { path: `${path}/${at(step.answer.body, '/metadata/name') ?? ''}` };
  const segments = path.split('/');
  const last = segments.at(-1) ?? '';
  return SUBRESOURCES.has(last) ? { path: segments.slice(0, -1).join('/'), subresource: last } : { path };
}

function remember(living: Map<string, KubeObject>, step: RecordedStep, path: string): void {
  const { method, query, accept } = step.request;
  const { status, body } = step.answer;
  const isDryRun = isObject(query) && query.dryRun !== undefined;
  if (status === 404) living.delete(path);
  if (status > 299 || isDryRun || accept !== undefined) return;
  if (method === 'DELETE' && at(body, '/kind') === 'Status') living.delete(path);
  const isWhole = isObject(body) && body.kind !== 'Scale' && at(body, '/metadata/uid') !== undefined;
  if (isWhole) living.set(path, body as unknown as KubeObject);
}
