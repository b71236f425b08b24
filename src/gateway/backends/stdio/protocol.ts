// What a shared process says and is asked in our own name: the handshake of either era.

import type { JsonObject } from '#std/json.ts';
import { LATEST_SESSION_REVISION, LATEST_STATELESS_REVISION, SESSION_REVISIONS } from '../../wire/revisions.ts';

/** Who we are to the process. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** No capabilities: what a shared process would ask of a client cannot be attributed to one. */
export function initializeParams(clientInfo: ClientInfo): JsonObject {
  return { protocolVersion: LATEST_SESSION_REVISION, capabilities: {}, clientInfo: { ...clientInfo } };
}

/** MCP 2026-07-28, per-request protocol fields. */
export function statelessParams(clientInfo: ClientInfo): JsonObject {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': LATEST_STATELESS_REVISION,
      'io.modelcontextprotocol/clientInfo': { ...clientInfo },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

/** The older of the two, where both are known; else that of the process. */
export function agreedRevision(requested: string | undefined, spoken: string): string {
  const revisions: readonly string[] = SESSION_REVISIONS;
  const asked = requested === undefined ? -1 : revisions.indexOf(requested);
  return asked >= 0 && asked < revisions.indexOf(spoken) ? (revisions[asked] ?? spoken) : spoken;
}

/** Tasks belong to a client, and a shared process lists them to every one. */
export function sharedCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _, ...rest } = capabilities;
  return rest;
}
