// Sends one notification through the guarded client, with a few attempts that each have a timeout.

import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';
import type { Outbound, OutboundResponse } from '../http/outbound.ts';

export interface NotificationRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Returns true if an error response still means that the message was delivered. */
  readonly delivered?: (status: number, body: string) => boolean;
}

const TIMEOUT_MS = 5000;
const ANSWER_BYTES_MAX = 64 * 1024;
const PAUSES_MS = [500, 1500];

/**
 * Throws Failure `notify-failed`, with `retryAfterMs` if the receiver sent a `Retry-After`. The message contains only
 * the receiver's origin, because the path of its URL may be secret.
 */
export async function deliver(outbound: Outbound, message: NotificationRequest): Promise<void> {
  const origin = URL.parse(message.url)?.origin ?? 'the receiver';
  for (let attempt = 0; ; attempt += 1) {
    const reason = await attemptOf(outbound, message);
    if (reason === undefined) return;
    const pauseMs = PAUSES_MS[attempt];
    const { retryAfterMs = 0 } = reason;
    if (!reason.retryable || pauseMs === undefined || retryAfterMs > pauseMs) {
      const data = { origin, retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined };
      throw new Failure('notify-failed', `${origin} could not be notified: ${reason.says}`, { data });
    }
    await pause(pauseMs);
  }
}

interface Reason {
  readonly says: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

async function attemptOf(outbound: Outbound, message: NotificationRequest): Promise<Reason | undefined> {
  const { url, body, headers, delivered } = message;
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: ANSWER_BYTES_MAX };
  try {
    const answer = await outbound.request({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      // After a success status, the notification counts as delivered. The body, which may be slow, is not needed.
      readsBody: (status) => !isDelivered(status),
      ...limits,
    });
    return reasonOf(answer, delivered);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A slow receiver is likely to remain slow, so the run does not wait for the receiver three times.
    return { says: error.code, retryable: error.retryable && error.code !== 'outbound-timeout' };
  }
}

function isDelivered(status: number): boolean {
  return status >= 200 && status < 300;
}

function reasonOf(
  { status, headers, body }: OutboundResponse,
  delivered: NotificationRequest['delivered'],
): Reason | undefined {
  if (isDelivered(status)) return undefined;
  if (delivered?.(status, Buffer.from(body).toString('utf8')) === true) return undefined;
  const retryAfterMs = waitOf(headers);
  const retryable = status === 429 || status >= 500;
  return { says: `it answers ${status}`, retryable, retryAfterMs };
}

/**
 * Returns `Retry-After` in milliseconds: seconds, or a date relative to the response's `Date` (RFC 9110 section
 * 10.2.3).
 */
function waitOf(headers: OutboundResponse['headers']): number | undefined {
  const { 'retry-after': after, date } = headers;
  if (after === undefined) return undefined;
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(date ?? '');
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
