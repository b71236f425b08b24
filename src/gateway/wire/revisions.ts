// Lists the revisions of MCP, and determines the era of a request.

import { ERRORS, type ProtocolFault } from './errors.ts';
import type { Message } from './message.ts';

/** MCP revisions until 2025-11-25 have sessions. Since MCP 2026-07-28 each request is independent. */
export type Era = 'session' | 'stateless';

export const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
const STATELESS_REVISIONS = ['2026-07-28'] as const;

export const LATEST_SESSION_REVISION = '2025-11-25';
export const LATEST_STATELESS_REVISION = '2026-07-28';

/** Revision of a request without the header (MCP 2025-11-25, Transports, Protocol Version Header). */
const ASSUMED_REVISION = '2025-03-26';

/** All supported revisions in the order in which a client should prefer them, the newest first. */
export const SUPPORTED_REVISIONS: readonly string[] = [...SESSION_REVISIONS, ...STATELESS_REVISIONS].toReversed();

const ERAS: ReadonlyMap<string, Era> = new Map([
  ...SESSION_REVISIONS.map((revision) => [revision, 'session'] as const),
  ...STATELESS_REVISIONS.map((revision) => [revision, 'stateless'] as const),
]);

export function eraOfRevision(revision: string): Era | undefined {
  return ERAS.get(revision);
}

export type EraDecision =
  | { readonly era: Era; readonly revision: string; readonly fault?: undefined }
  | { readonly fault: ProtocolFault };

/**
 * Determines the era of one HTTP request: by `_meta` of its message, by the method `initialize`, or by the header.
 * `message` is undefined for GET and DELETE. `checkStandardHeaders` checks that the header is present.
 */
export function eraOf(header: string | undefined, message: Message | undefined): EraDecision {
  const call = message === undefined || message.kind === 'response' ? undefined : message;
  const claimed = call?.meta?.protocolVersion;
  if (call !== undefined && claimed !== undefined) return eraOfClaim(header, claimed);
  if (call?.method === 'initialize') return eraOfInitialize(header, call.requestedVersion);
  if (header === undefined) return { era: 'session', revision: ASSUMED_REVISION };
  const era = eraOfRevision(header);
  if (era === undefined) return { fault: unsupportedHeader() };
  if (era === 'session' || message === undefined || message.kind === 'notification') return { era, revision: header };
  return message.kind === 'response' ? { fault: RESPONSE_SENT } : { fault: MISSING_META };
}

function eraOfClaim(header: string | undefined, claimed: string): EraDecision {
  if (header !== undefined && header !== claimed) {
    const text = 'Header mismatch: MCP-Protocol-Version differs from io.modelcontextprotocol/protocolVersion in _meta';
    return { fault: { status: 400, code: ERRORS.headerMismatch, message: text } };
  }
  if (eraOfRevision(claimed) === 'stateless') return { era: 'stateless', revision: claimed };
  return { fault: unsupportedRevision(claimed) };
}

/**
 * Returns the era of `initialize`. Ignores an unknown revision in the header, because the header is required only after
 * `initialize`.
 */
function eraOfInitialize(header: string | undefined, requested: string | undefined): EraDecision {
  if (header !== undefined && eraOfRevision(header) === 'stateless') {
    const text = `Header mismatch: MCP-Protocol-Version ${header} has no initialize; use 2025-11-25 or server/discover`;
    return { fault: { status: 400, code: ERRORS.headerMismatch, message: text } };
  }
  const known = requested !== undefined && eraOfRevision(requested) === 'session';
  return { era: 'session', revision: known ? requested : LATEST_SESSION_REVISION };
}

/**
 * Returns the fault of MCP 2026-07-28, Versioning, Protocol Version Negotiation. Lists only revisions without sessions.
 * Revisions with sessions are negotiated by `initialize`.
 */
function unsupportedRevision(requested: string): ProtocolFault {
  return {
    status: 400,
    code: ERRORS.unsupportedProtocolVersion,
    message: 'Unsupported protocol version',
    data: { supported: [...STATELESS_REVISIONS], requested },
  };
}

function unsupportedHeader(): ProtocolFault {
  const known = SUPPORTED_REVISIONS.join(', ');
  const message = `Bad Request: Unsupported protocol version (supported versions: ${known})`;
  return { status: 400, code: ERRORS.badRequest, message };
}

/** Required by MCP 2026-07-28, Streamable HTTP, Sending Messages. */
const RESPONSE_SENT: ProtocolFault = {
  status: 400,
  code: ERRORS.invalidRequest,
  message: 'A client sends no responses in this revision',
};

/** Required by MCP 2026-07-28, Base Protocol, Per-request protocol fields. */
const MISSING_META: ProtocolFault = {
  status: 400,
  code: ERRORS.invalidParams,
  message: 'Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion',
};
