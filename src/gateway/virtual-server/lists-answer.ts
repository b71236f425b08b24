// Answers requests that a virtual server handles itself: initialize, discover, and lists.

import type { JsonObject } from '#std/json.ts';
import type { Answer, Era, Flow } from '../backends/backend.ts';
import { createLaterFlow } from '../backends/bridge/context.ts';
import { resultMessage } from '../backends/bridge/messages.ts';
import { META_SERVER } from '../backends/bridge/protocol.ts';
import { createReply } from '../backends/bridge/reply.ts';
import { ERRORS, errorBody } from '../wire/errors.ts';
import { APPS, declaredExtension } from '../wire/extensions/identifiers.ts';
import type { RequestMessage, Span } from '../wire/message.ts';
import { eraOfRevision, LATEST_SESSION_REVISION, SUPPORTED_REVISIONS } from '../wire/revisions.ts';
import { readValue } from '../wire/scan.ts';
import type { Offer } from './catalogue/assemble.ts';
import { sessionCapabilities, statelessCapabilities } from './catalogue/capabilities.ts';
import type { Offered } from './catalogue/catalogue.ts';
import type { ListName } from './catalogue/list-names.ts';

export interface ServerName {
  readonly name: string;
  readonly version: string;
}

/**
 * Returns the requested revision if it is supported, or else the latest revision (MCP 2025-11-25, Lifecycle, Version
 * Negotiation).
 */
export function agreedRevision(requested: string | undefined): string {
  return requested !== undefined && eraOfRevision(requested) === 'session' ? requested : LATEST_SESSION_REVISION;
}

export function initializeMessage({ id }: RequestMessage, revision: string, offer: Offer, server: ServerName): Buffer {
  const { name, version } = server;
  const capabilities = sessionCapabilities(offer.capabilities);
  return resultMessage(
    id.json,
    JSON.stringify({ protocolVersion: revision, capabilities, serverInfo: { name, version } }),
  );
}

export function discoverMessage(
  { id }: RequestMessage,
  capabilities: JsonObject,
  server: ServerName,
  shared: boolean,
): Buffer {
  const { name, version } = server;
  return resultMessage(
    id.json,
    JSON.stringify({
      resultType: 'complete',
      supportedVersions: SUPPORTED_REVISIONS,
      capabilities: statelessCapabilities(capabilities),
      ttlMs: TTL_MS,
      cacheScope: shared ? 'public' : 'private',
      _meta: { [META_SERVER]: { name, version } },
    }),
  );
}

/** Time for which clients may cache a list. Clients that listen are notified of changes earlier. */
const TTL_MS = 30_000;

const NOT_FOUND = Symbol('no such page');

/**
 * Answers from the offer, in the same turn of the event loop if the offer is known. Sends the answer only after all
 * requests of the turn are read: writing a long list evicts the code that reads requests from the processor's caches.
 */
export function answerFromOffer(
  asked: Offered | Promise<Offered>,
  answer: Answer,
  messageOf: (offer: Offer) => Buffer | readonly Buffer[],
): Flow {
  const flow = createLaterFlow();
  function settle(offered: Offered): void {
    if (flow.aborted()) return;
    if (!offered.ok) {
      answer.fail(offered.fault);
      return;
    }
    const message = messageOf(offered.offer);
    setImmediate(() => {
      if (!flow.aborted()) finishGuarded(answer, message);
    });
  }
  if (asked instanceof Promise) void asked.then(settle);
  else settle(asked);
  return flow;
}

/** Sends an answer. Handles its own errors, because no caller would catch them. */
function finishGuarded(answer: Answer, message: Buffer | readonly Buffer[]): void {
  try {
    createReply(answer).finish(message);
  } catch (error) {
    const detail = error instanceof Error ? error.stack : String(error);
    answer.fail({ reason: 'answer-invalid', message: 'The answer cannot be sent', detail });
  }
}

interface ListAsked {
  readonly era: Era;
  readonly server: ServerName;
  /** True if every caller gets the same offer. */
  readonly shared: boolean;
  /** Returns the capabilities that the client declared. */
  readonly capabilities: () => unknown;
}

/** Returns the message in pieces. The page is cached, and shared by all clients. */
export function listMessage(
  name: ListName,
  body: Buffer,
  { id, cursor: at }: RequestMessage,
  { lists, modelTools }: Offer,
  { era, server, shared, capabilities }: ListAsked,
): readonly Buffer[] {
  const cursor = at === undefined ? undefined : cursorIn(body, at);
  const isForModel =
    name === 'tools' && modelTools !== lists.tools && declaredExtension(capabilities(), APPS) === undefined;
  const list = isForModel ? modelTools : lists[name];
  const page = cursor === NOT_FOUND ? undefined : list.page(era, cursor);
  if (page === undefined) {
    return [errorBody(id, ERRORS.invalidParams, 'Invalid params: the cursor does not belong to this list')];
  }
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${id.json},"result":{`);
  // The list of tools may differ for clients without user interfaces.
  const isSame = shared && (name !== 'tools' || modelTools === lists.tools);
  return era === 'session' ? [head, page] : [head, page, statelessEnd(server, isSame)];
}

function statelessEnd({ name, version }: ServerName, shared: boolean): Buffer {
  const meta = JSON.stringify({ [META_SERVER]: { name, version } });
  const scope = shared ? 'public' : 'private';
  return Buffer.from(`,"resultType":"complete","ttlMs":${TTL_MS},"cacheScope":"${scope}","_meta":${meta}}}`);
}

function cursorIn(body: Buffer, at: Span): string | typeof NOT_FOUND {
  const cursor = readValue(body, at);
  return typeof cursor === 'string' ? cursor : NOT_FOUND;
}
