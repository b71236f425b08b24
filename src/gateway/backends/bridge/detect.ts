// Detects which protocol eras (with sessions, stateless) a server speaks, at the first request that needs to know.

import { shownText } from '#std/json.ts';
import { ERRORS } from '../../wire/errors.ts';
import { eraOfRevision } from '../../wire/revisions.ts';
import type { Answer, BackendFault, Exchange } from '../backend.ts';
import { type Asked, ask, type Cause } from './ask.ts';
import { askingOf, type BridgeContext } from './context.ts';
import type { EraKnowledge } from './eras.ts';
import { objectOf } from './messages.ts';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from './protocol.ts';
import { askDiscover, discoverResult } from './session-client/discovery.ts';
import { closeSession, openSession } from './stateless-client/backend-session.ts';

export type Detected =
  | { readonly kind: 'known'; readonly speaks: boolean }
  /**
   * The client gets the server's own answer, such as 401, because it explains the refusal better than an error of the
   * bridge.
   */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly fault: BackendFault };

/** Time limit for the answer to `server/discover`. Some servers never answer an unknown method. */
const SILENCE_MS = 5000;

const CLIENT = { name: 'skep', version: '1' };

const META = JSON.stringify({ [META_VERSION]: '2026-07-28', [META_CAPABILITIES]: {}, [META_CLIENT]: CLIENT });

/** Returns a function that detects whether the server is stateless. Concurrent requests share one detection. */
export function createStatelessDetector(
  context: BridgeContext,
  eras: EraKnowledge,
): (exchange: Exchange) => Promise<Detected> {
  const limits = { ...context.limits, askMs: Math.min(context.limits.askMs, SILENCE_MS) };
  let asking: Promise<Detected> | undefined;

  async function detect(exchange: Exchange): Promise<Detected> {
    const asked = await askDiscover({ ...context, limits }, exchange, META);
    const hasSessions = breaksAtDiscover(asked) && (await acceptsSession(context, exchange));
    const detected: Detected = hasSessions ? { kind: 'known', speaks: false } : detectedFrom(asked);
    if (detected.kind === 'known') eras.learn('stateless', detected.speaks);
    asking = undefined;
    return detected;
  }

  return (exchange) => {
    asking ??= detect(exchange);
    return asking;
  };
}

/**
 * Returns whether `server/discover` cannot detect the era, because the server failed or closed the connection. Only
 * `initialize` detects the era of such a server.
 */
function breaksAtDiscover(asked: Asked): boolean {
  return asked.ok ? asked.status >= 500 : asked.fault.reason === 'closed';
}

/** Returns whether the server opens a session. The new session is closed at once. */
async function acceptsSession(context: BridgeContext, cause: Cause): Promise<boolean> {
  const opened = await openSession(context, { key: '', capabilities: {}, clientInfo: CLIENT }, cause);
  if (opened.ok) void closeSession(context, opened.session);
  return opened.ok;
}

/** Derives the era from the answer to `server/discover` (MCP 2026-07-28, Streamable HTTP, Backward Compatibility). */
function detectedFrom(asked: Asked): Detected {
  if (!asked.ok) return detectedByFault(asked.fault);
  if (asked.status === 401 || asked.status === 403 || asked.status === 429) return { kind: 'refused' };
  if (asked.status >= 500) return { kind: 'refused' };
  const result = discoverResult(asked);
  if (result !== undefined) return { kind: 'known', speaks: hasStateless(result.supportedVersions) };
  const { bytes, message } = asked.response ?? {};
  const error = bytes === undefined ? {} : objectOf(bytes, message?.error);
  if (error.code === ERRORS.headerMismatch || error.code === ERRORS.missingClientCapability) {
    return { kind: 'known', speaks: true };
  }
  const { data } = error;
  const offers = typeof data === 'object' && data !== null && 'supported' in data && hasStateless(data.supported);
  return { kind: 'known', speaks: error.code === ERRORS.unsupportedProtocolVersion && offers };
}

function hasStateless(versions: unknown): boolean {
  return Array.isArray(versions) && versions.some((each) => eraOfRevision(shownText(each)) === 'stateless');
}

function detectedByFault(fault: BackendFault): Detected {
  switch (fault.reason) {
    case 'timeout':
    case 'answer-invalid':
    case 'not-supported':
    case 'session-unknown':
      return { kind: 'known', speaks: false };
    default:
      return { kind: 'failed', fault };
  }
}

/**
 * Sends the client's own `initialize`. The caller passes the answer to the client, unless the server turns out to have
 * no sessions.
 */
export async function tryInitialize(context: BridgeContext, eras: EraKnowledge, exchange: Exchange): Promise<Asked> {
  const asked = await ask(askingOf(context), exchange);
  if (spoke(asked)) eras.learn('session', true);
  return asked;
}

export function spoke(asked: Asked): boolean {
  return asked.ok && asked.response?.message.result !== undefined;
}

/**
 * Returns whether the server may be stateless: the server was reached, and its refusal of `initialize` has no other
 * known reason.
 */
export function refusedInitialize(asked: Asked): boolean {
  if (asked.ok) return asked.status !== 401 && asked.status !== 403 && asked.status !== 429 && asked.status < 500;
  return detectedByFault(asked.fault).kind === 'known';
}

const FRAMING: ReadonlySet<string> = new Set(['content-length', 'content-type', 'transfer-encoding']);

/** Sends a buffered answer to the client. */
export function replay(asked: Asked, answer: Answer): void {
  if (!asked.ok) {
    answer.fail(asked.fault);
    return;
  }
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !FRAMING.has(name)));
  const body = asked.response?.bytes;
  if (body !== undefined) headers['content-type'] = 'application/json';
  answer.head(asked.status, { ...headers, 'content-length': String(body?.length ?? 0) });
  if (body !== undefined) answer.data(body);
  answer.end();
}
