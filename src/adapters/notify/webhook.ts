// Sends a run as JSON to a URL, signed with a shared secret.

import type { Notice } from '#reconciler/run/notify/ports.ts';
import { hmacSha256 } from '#std/hash.ts';
import type { Outbound } from '../http/outbound.ts';
import { deliver } from './send.ts';

export interface WebhookOptions {
  readonly url: string;
  readonly instance: string;
  /** Returns the shared secret. Called once for each run. */
  readonly secret: () => Promise<string>;
  /** Returns the `traceparent` header of the run. */
  readonly traceParent?: (() => string | undefined) | undefined;
}

/** Sends the run. The header `x-skep-signature-256` contains the HMAC-SHA-256 of the body, in GitHub's format. */
export async function sendWebhook(outbound: Outbound, options: WebhookOptions, notice: Notice): Promise<void> {
  const body = bodyOf(options.instance, notice);
  const signature = hmacSha256(Buffer.from(await options.secret()), body);
  const traceparent = options.traceParent?.();
  const headers = {
    ...(traceparent === undefined ? {} : { traceparent }),
    'x-skep-event': 'run',
    'x-skep-delivery': notice.record.id,
    'x-skep-signature-256': `sha256=${signature}`,
  };
  await deliver(outbound, { url: options.url, headers, body });
}

/** Maximum problems per message, because receivers have size limits. `skep history` shows all problems. */
const PROBLEMS_MAX = 100;

function bodyOf(instance: string, { state, before, description, record }: Notice): string {
  const { id, startedAt, finishedAt, commits, summary, approvals = [], problems, failures, pinned, omitted } = record;
  return JSON.stringify({
    version: 1,
    event: 'run',
    instance,
    state,
    before: before ?? null,
    description,
    run: { id, startedAt, finishedAt, commits },
    summary,
    pinned,
    approvals: approvals.map(({ source, hash, deletions }) => ({ source, hash, deletions: deletions.length })),
    problems: problems.slice(0, PROBLEMS_MAX).map(({ code, severity, file, line, resource }) => ({
      code,
      severity,
      file,
      line,
      resource,
    })),
    problemsOmitted: Math.max(0, problems.length - PROBLEMS_MAX) + (omitted.problems ?? 0),
    failures: failures.map(({ code }) => ({ code })),
  });
}
