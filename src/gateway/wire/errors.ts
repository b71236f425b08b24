// Error codes of JSON-RPC and MCP by name, and an error as a message.

import type { Json } from '#std/json.ts';
import type { MessageId } from './message.ts';

/** JSON-RPC 2.0 section 5.1; MCP 2025-11-25 (resources, URL elicitation) and 2026-07-28 (Error Codes). */
export const ERRORS = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** What servers of the session era answer with HTTP 400 or a lost connection; no revision defines it. */
  badRequest: -32000,
  /** An unknown session, with HTTP 404; no revision defines it. */
  sessionNotFound: -32001,
  /** Session era; -32602 since 2026-07-28. */
  resourceNotFound: -32002,
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** Why a request is refused by the rules of the protocol, and with which HTTP status. */
export interface ProtocolFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/**
 * An error response. Without an id the member is left out: the schemas since 2025-11-25 allow that and no null, and clients
 * that check the schema would not recognise the error.
 */
export function errorBody(id: MessageId | undefined, code: number, message: string, data?: Json): Buffer {
  const member = id === undefined ? '' : `"id":${id.json},`;
  const error = JSON.stringify({ code, message, data });
  return Buffer.from(`{"jsonrpc":"2.0",${member}"error":${error}}`);
}
