// Names the error codes of JSON-RPC and MCP, and formats error responses.

import type { Json } from '#std/json.ts';
import type { MessageId } from './message.ts';

/**
 * Codes of JSON-RPC 2.0 (section 5.1), MCP 2025-11-25 (resources, URL elicitation) and MCP 2026-07-28 (Error Codes).
 */
export const ERRORS = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /**
   * Code that servers of the session era send with HTTP 400 or after a lost connection. No MCP revision defines this
   * code.
   */
  badRequest: -32000,
  /** Code that servers send with HTTP 404 for an unknown session. No MCP revision defines this code. */
  sessionNotFound: -32001,
  /** Code of the session era. The stateless era uses -32602 in its place. */
  resourceNotFound: -32002,
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** Error and HTTP status for a request that violates the protocol. */
export interface ProtocolFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/**
 * Formats an error response. If `id` is undefined, the response has no member `id`. The schemas since MCP 2025-11-25
 * allow an absent id but not null, and clients that validate the schema would ignore an error with null.
 */
export function errorBody(id: MessageId | undefined, code: number, message: string, data?: Json): Buffer {
  const member = id === undefined ? '' : `"id":${id.json},`;
  const error = JSON.stringify({ code, message, data });
  return Buffer.from(`{"jsonrpc":"2.0",${member}"error":${error}}`);
}
