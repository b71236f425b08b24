// Calls webhooks with a message of a client. Webhooks that may change the message are called first, one after another.
// Webhooks that only permit or deny the message follow.

import { SESSION_CLAIM } from '#auth/identity.ts';
import type { JsonObject } from '#std/json.ts';
import type { Message } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import { readWebhookAnswer, type WebhookAnswer } from './answer.ts';
import { applyPatch } from './json-patch.ts';

export interface Webhook {
  readonly name: string;
  readonly mutates: boolean;
  /** True if the call continues after a failure of the webhook. */
  readonly ignoresFailure: boolean;
  /** Sends a request. Rejects if the answer is too large or late, or if `signal` is aborted. */
  send(body: Buffer, signal: AbortSignal): Promise<{ readonly status: number; readonly body: Uint8Array }>;
}

export interface AskedMessage {
  readonly body: Buffer;
  readonly message: Message;
  /** Claims of the verified token. undefined if callers are not authenticated. */
  readonly claims: JsonObject | undefined;
  readonly peer: string;
  /** Aborted when the client no longer waits for the message. */
  readonly signal: AbortSignal;
}

export interface WebhookWorld {
  /** Webhooks in the order of calls. Webhooks that change messages are first. */
  readonly webhooks: readonly Webhook[];
  readonly server: { readonly name: string; readonly namespace: string; readonly transport: string };
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Reports the outcome of one webhook call. `detail` is for the log. */
  readonly report: (webhook: Webhook, outcome: WebhookOutcome, detail?: string) => void;
}

type WebhookOutcome = 'allowed' | 'changed' | 'denied' | 'failed' | 'ignored';

export interface WebhookResult {
  /** Body of the message after all changes. */
  readonly body: Buffer;
  readonly message: Message;
  /** `name: outcome` for each called webhook. */
  readonly asked: readonly string[];
  /** Refusal of the message. Absent if the message is permitted. */
  readonly refused?: { readonly by: string; readonly outcome: 'denied' | 'failed'; readonly detail: string };
}

/** Maximum size in bytes of a message for webhooks, before and after a change. */
export const WEBHOOK_MESSAGE_MAX = 1024 * 1024;

/**
 * Calls the webhooks in order. Stops when `signal` is aborted. The caller must not forward the message in this case.
 */
export async function askWebhooks(world: WebhookWorld, given: AskedMessage): Promise<WebhookResult> {
  let { body, message } = given;
  const asked: string[] = [];
  for (const webhook of world.webhooks) {
    if (given.signal.aborted) break;
    const answer = await askOne(world, webhook, { ...given, body, message });
    // The client's disconnection is not a failure of the webhook.
    if (given.signal.aborted) break;
    const { outcome, detail } = answer;
    world.report(webhook, outcome, detail);
    asked.push(`${webhook.name}: ${outcome}`);
    if (outcome === 'denied' || outcome === 'failed')
      return { body, message, asked, refused: { by: webhook.name, outcome, detail: detail ?? '' } };
    if (answer.changed !== undefined) ({ body, message } = answer.changed);
  }
  return { body, message, asked };
}

interface CallOfWebhook {
  readonly outcome: WebhookOutcome;
  readonly detail?: string;
  readonly changed?: { readonly body: Buffer; readonly message: Message };
}

async function askOne(world: WebhookWorld, webhook: Webhook, given: AskedMessage): Promise<CallOfWebhook> {
  const failed = (detail: string): CallOfWebhook => ({
    outcome: webhook.ignoresFailure ? 'ignored' : 'failed',
    detail,
  });
  const uid = world.newId();
  let answer: WebhookAnswer;
  try {
    const { status, body } = await webhook.send(requestBody(world, given, uid), given.signal);
    answer = readWebhookAnswer(status, body, uid);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
  if (answer.kind === 'failed') return failed(answer.detail);
  if (answer.kind === 'denied') return { outcome: 'denied', detail: answer.reason };
  if (answer.patch === undefined) return { outcome: 'allowed' };
  if (!webhook.mutates) return failed('its answer has a patch, but validating webhooks must not change messages');
  const changed = changedMessage(given, answer.patch);
  // Fails even if the webhook's failures are ignored. Otherwise a client could evade the webhook with a message that
  // the patch does not fit.
  return typeof changed === 'string' ? { outcome: 'failed', detail: changed } : { outcome: 'changed', changed };
}

/** Returns the changed message, or the fault as a text. */
function changedMessage({ body, message }: AskedMessage, patch: Buffer) {
  const patched = applyPatch(body, patch, WEBHOOK_MESSAGE_MAX);
  if (!patched.ok) return patched.fault;
  const scanned = scanMessage(patched.bytes);
  if (!scanned.ok) return `its patch results in a message that is refused: ${scanned.fault.message}`;
  const next = scanned.message;
  const same = next.kind !== 'response' && message.kind !== 'response' && next.kind === message.kind;
  if (!same || next.method !== message.method) return 'its patch changes the kind of the message';
  return { body: patched.bytes, message: next };
}

/** Builds the request with the field names of ToolHive (webhook API v0.1.0). The message keeps its bytes. */
function requestBody({ server, now }: WebhookWorld, { body, claims, peer }: AskedMessage, uid: string): Buffer {
  const head = JSON.stringify({
    version: 'v0.1.0',
    uid,
    timestamp: new Date(now()).toISOString(),
    principal: claims === undefined ? null : principalOf(claims),
  });
  const context = JSON.stringify({
    server_name: server.name,
    namespace: server.namespace,
    source_ip: peer,
    transport: server.transport,
  });
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"mcp_request":`),
    body,
    Buffer.from(`,"context":${context}}`),
  ]);
}

function principalOf(claims: JsonObject): JsonObject {
  const { [SESSION_CLAIM]: _session, ...shown } = claims;
  const { sub, name, email } = claims;
  return {
    ...(typeof sub === 'string' ? { sub } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    claims: shown,
  };
}
