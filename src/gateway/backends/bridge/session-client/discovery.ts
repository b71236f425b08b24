// Requests the description of a server of MCP 2026-07-28 and caches it for later clients.

import { isObject, type JsonObject } from '#std/json.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { LATEST_STATELESS_REVISION } from '../../../wire/revisions.ts';
import type { BackendFault } from '../../backend.ts';
import { type Asked, ask, type Cause, postExchange } from '../ask.ts';
import { askingOf, type BridgeContext } from '../context.ts';
import { callMessage, objectOf } from '../messages.ts';
import { META_SERVER, type ServerFacts } from '../protocol.ts';

export type Discovered =
  | { readonly ok: true; readonly facts: ServerFacts }
  | { readonly ok: false; readonly fault: BackendFault; readonly status?: number };

export interface Discovery {
  /** `meta` is the JSON text of `_meta`. */
  find(cause: Cause, meta: string): Promise<Discovered>;
}

interface Kept {
  readonly facts: ServerFacts;
  /** Expiry in monotonic milliseconds. */
  readonly until: number;
}

/** Maximum number of cached answers. The oldest answers are deleted first. */
const MAX_PRIVATE = 1000;
const PUBLIC = '';

export function createDiscovery(context: BridgeContext): Discovery {
  const { clock } = context.ports;
  const kept = new Map<string, Kept>();

  function fresh(key: string): ServerFacts | undefined {
    const found = kept.get(key);
    if (found !== undefined && found.until > clock.monotonic()) return found.facts;
    kept.delete(key);
    return undefined;
  }

  function keep(caller: string, { ttlMs, cacheScope }: JsonObject, facts: ServerFacts): void {
    const ttl = typeof ttlMs === 'number' ? Math.min(ttlMs, context.limits.discoverMs) : 0;
    if (!(ttl > 0)) return;
    kept.set(cacheScope === 'public' ? PUBLIC : `=${caller}`, { facts, until: clock.monotonic() + ttl });
    const oldest = kept.size > MAX_PRIVATE ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
  }

  return {
    async find(cause, meta) {
      const facts = fresh(PUBLIC) ?? fresh(`=${cause.caller}`);
      if (facts !== undefined) return { ok: true, facts };
      const asked = await askDiscover(context, cause, meta);
      const result = discoverResult(asked);
      if (result === undefined) return { ok: false, ...faultOf(asked) };
      const found = factsOf(result);
      keep(cause.caller, result, found);
      return { ok: true, facts: found };
    },
  };
}

/** Sends `server/discover`. `meta` is the JSON text of `_meta`. */
export function askDiscover(context: BridgeContext, cause: Cause, meta: string): Promise<Asked> {
  const body = callMessage('server/discover', '"skep-discover"', `{"_meta":${meta}}`);
  const headers = { [HEADERS.protocolVersion]: LATEST_STATELESS_REVISION, [HEADERS.method]: 'server/discover' };
  return ask(askingOf(context), postExchange(cause, 'stateless', body, headers));
}

/** Returns undefined if the answer is not a result of `server/discover`. */
export function discoverResult(asked: Asked): JsonObject | undefined {
  if (!asked.ok || asked.response === undefined) return undefined;
  const { bytes, message } = asked.response;
  const result = objectOf(bytes, message.result);
  return Array.isArray(result.supportedVersions) ? result : undefined;
}

function factsOf({ capabilities, instructions, _meta: meta }: JsonObject): ServerFacts {
  const serverInfo = isObject(meta) ? meta[META_SERVER] : undefined;
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

function faultOf(asked: Asked): { readonly fault: BackendFault; readonly status?: number } {
  if (!asked.ok) return { fault: asked.fault };
  const fault: BackendFault = {
    reason: 'answer-invalid',
    message: 'the MCP server did not answer server/discover',
    detail: `status ${asked.status}`,
  };
  return { fault, status: asked.status };
}
