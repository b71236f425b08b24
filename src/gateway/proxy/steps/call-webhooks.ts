// Sends a message to webhooks, which may refuse or change it before tool rules and policies decide.

import type { Json } from '#std/json.ts';
import { askWebhooks, WEBHOOK_MESSAGE_MAX, type WebhookResult, type WebhookWorld } from '../../gate/webhooks/run.ts';
import { ERRORS } from '../../wire/errors.ts';
import { checkStandardHeaders, HEADERS, singleHeader } from '../../wire/headers.ts';
import type { Message } from '../../wire/message.ts';
import { eraOf } from '../../wire/revisions.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Entry, Known } from '../entry.ts';
import { CLIENT_CLOSED, type Refusal } from '../faults.ts';
import type { Incoming } from '../incoming.ts';
import { changedHeaders } from './changed-headers.ts';

/** Calls the webhooks, and then `pass`. Webhooks do not get messages that the proxy will refuse as invalid. */
export function callWebhooks(
  world: WebhookWorld | undefined,
  entry: Entry,
  incoming: Incoming,
  pass: (incoming: Incoming) => void,
): void {
  const message = world === undefined ? undefined : askedMessage(incoming);
  const { body, caller } = incoming;
  if (world === undefined || message === undefined || body === undefined) {
    pass(incoming);
    return;
  }
  const known: Known = { caller, message, body, requestBytes: body.length };
  if (body.length > WEBHOOK_MESSAGE_MAX) {
    entry.refuse(TOO_LARGE_FOR_WEBHOOKS, known);
    return;
  }
  const claims = caller.token === undefined ? undefined : caller.claims;
  const peer = entry.request.socket.remoteAddress ?? '';
  const { response } = entry;
  const gone = new AbortController();
  // Stops the webhook calls when the client disconnects, because from then on the limits do not count the request.
  response.once('close', () => gone.abort());
  askWebhooks(world, { body, message, claims, peer, signal: gone.signal }).then((result) => {
    const { asked: webhooks, refused } = result;
    if (refused !== undefined) entry.refuse(...webhookRefusal(refused, { ...known, webhooks }));
    else if (gone.signal.aborted || response.closed) entry.refuse(CLIENT_CLOSED, { ...known, webhooks });
    else pass({ ...changedRequest(incoming, message, result), webhooks });
  });
}

/**
 * Returns the message for webhooks. Returns undefined for a response to a server's request, and for a message that the
 * proxy will refuse as invalid.
 */
function askedMessage({ headers, body }: Incoming): Message | undefined {
  const scanned = body === undefined ? undefined : scanMessage(body);
  if (scanned?.ok !== true || scanned.message.kind === 'response') return undefined;
  const { message } = scanned;
  const decided = eraOf(singleHeader(headers, HEADERS.protocolVersion), message);
  if (decided.fault !== undefined) return undefined;
  return decided.era === 'stateless' && checkStandardHeaders(headers, message) !== undefined ? undefined : message;
}

function changedRequest(incoming: Incoming, message: Message, { body, message: next }: WebhookResult): Incoming {
  const { body: before, headers } = incoming;
  if (before === undefined || body === before) return incoming;
  const changed = { ...incoming, body, received: before };
  return { ...changed, headers: changedHeaders(headers, { body: before, message }, { body, message: next }) };
}

/** Returns the refusal. Only the operator gets the webhook's own message. */
function webhookRefusal(
  { by, outcome, detail }: NonNullable<WebhookResult['refused']>,
  known: Known,
): [Refusal, Known] {
  const refusalDetail = detail === '' ? by : `${by}: ${detail}`;
  if (outcome === 'denied') return [WEBHOOK_DENIED, { ...known, refusalDetail }];
  return [WEBHOOK_FAILED, { ...known, refusalDetail, detail: refusalDetail }];
}

const DENIED_DATA: Json = { reason: 'webhook' };

const WEBHOOK_DENIED: Refusal = {
  status: 403,
  code: 403,
  message: 'Request denied by webhook policy',
  data: DENIED_DATA,
  reason: 'webhook-denied',
};

const WEBHOOK_FAILED: Refusal = {
  status: 503,
  code: ERRORS.internalError,
  message: 'A webhook that decides about this request sent no usable answer. Try again.',
  headers: { 'retry-after': '5' },
  reason: 'webhook-failed',
};

const TOO_LARGE_FOR_WEBHOOKS: Refusal = {
  status: 413,
  code: ERRORS.invalidRequest,
  message: 'The message is larger than webhooks of this server accept.',
  reason: 'webhook-request-too-large',
};
