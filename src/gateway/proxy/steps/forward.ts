// Passes an authenticated request through webhooks, rules and limits, and sends it to the server.

import { type Call, runGuarded } from '../call.ts';
import type { Caller } from '../caller.ts';
import type { Entry } from '../entry.ts';
import { type ExchangeWorld, type ListNeeded, type Prepared, prepareExchange } from '../exchange.ts';
import { faultRefusal } from '../faults.ts';
import type { Incoming } from '../incoming.ts';
import { readNeeded } from '../lists/read-needed.ts';
import type { ProxyParts } from '../parts.ts';
import { MESSAGES_PATH, postSseMessage } from '../sse/routes.ts';
import { type Ready, streamExchange } from '../streamable-front.ts';
import { callWebhooks } from './call-webhooks.ts';
import { keepClientHeaders } from './client-headers.ts';
import { countCall } from './count-call.ts';

function incomingOf({ clientHeaders: named }: ProxyParts, call: Call, caller: Caller, body?: Buffer): Incoming {
  const { method, url = '/', headers } = call.entry.request;
  return {
    method: method === 'GET' || method === 'DELETE' ? method : 'POST',
    path: url,
    headers: named === undefined ? headers : keepClientHeaders(headers, named),
    body,
    caller,
    trace: call.trace,
    forwarded: call.forwarded.headers,
  };
}

export function forward(parts: ProxyParts, call: Call, caller: Caller, body: Buffer | undefined): void {
  callWebhooks(parts.webhooks, call.entry, incomingOf(parts, call, caller, body), (incoming) =>
    runGuarded(call, () => sendIncoming(parts, call, worldOf(parts), incoming)),
  );
}

/** Reads the rules after the webhooks, because the rules may change while webhooks run. */
function worldOf(parts: ProxyParts): ExchangeWorld {
  return {
    seal: parts.seal,
    rules: parts.rules.current(),
    live: parts.rules,
    credential: parts.credential,
    rateLimits: parts.rateLimits,
    messageBytes: parts.limits.messageBytes,
  };
}

type NeedingList = Extract<Prepared, { readonly needsList: ListNeeded }>;

function sendIncoming(parts: ProxyParts, call: Call, world: ExchangeWorld, incoming: Incoming): void {
  const { entry } = call;
  if (parts.sse !== undefined && call.path === MESSAGES_PATH) {
    postSseMessage(parts.sse, world, entry, incoming);
    return;
  }
  const prepared = prepareExchange(world, incoming);
  if (prepared.refusal !== undefined) {
    entry.refuse(prepared.refusal, prepared.known);
    return;
  }
  if (prepared.needsList === undefined) {
    countExchange(parts, call, prepared);
    return;
  }
  // A sleeping server is started first, because it would not start within the time limit for reading the list.
  if (parts.sleeping === undefined || parts.sleeping.isAwake()) readList(parts, call, world, incoming, prepared);
  else {
    const leave = parts.sleeping.wake((fault) =>
      runGuarded(call, () => {
        if (fault === undefined) readList(parts, call, world, incoming, prepared);
        else entry.refuse(faultRefusal(fault), { ...prepared.known, detail: fault.detail });
      }),
    );
    entry.response.once('close', leave);
  }
}

function readList(
  parts: ProxyParts,
  call: Call,
  world: ExchangeWorld,
  incoming: Incoming,
  { known, needsList: needed }: NeedingList,
): void {
  const { entry } = call;
  const asking = { world, open: parts.backend.open, incoming, needed, clock: parts.clock };
  const giveUp = readNeeded(asking, (read) =>
    runGuarded(call, () => {
      if (read.refusal !== undefined) return entry.refuse(read.refusal, { ...known, detail: read.detail });
      const again = prepareExchange(world, { ...incoming, listAsked: true, reading: read.reading });
      if (again.refusal !== undefined) return entry.refuse(again.refusal, again.known);
      if (again.needsList === undefined) countExchange(parts, call, again);
    }),
  );
  entry.response.once('close', giveUp);
}

function countExchange(parts: ProxyParts, call: Call, prepared: Ready): void {
  const { entry } = call;
  countCall(parts.rateLimits, entry, prepared, {
    pass: (counted) => runGuarded(call, () => sendExchange(parts, entry, counted)),
    refuse: entry.refuse,
  });
}

function sendExchange(parts: ProxyParts, entry: Entry, prepared: Ready): void {
  const { backend, seal, clock, times, health, keptAnswerBytes, callers, untilStopped } = parts;
  const { keepAliveMs } = times;
  const { observed } = health;
  const hidesChallenges = callers !== undefined;
  const world = { backend, seal, clock, keepAliveMs, observed, keptAnswerBytes, hidesChallenges, untilStopped };
  streamExchange(world, entry, prepared);
}
