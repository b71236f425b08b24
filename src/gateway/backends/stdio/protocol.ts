// Defines the params of the gateway's own handshake with a shared process, in either era.

import type { JsonObject } from '#std/json.ts';
import { LATEST_SESSION_REVISION, LATEST_STATELESS_REVISION, SESSION_REVISIONS } from '../../wire/revisions.ts';

/** Name and version of the gateway for the process. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Declares no capabilities: requests of a shared process cannot be attributed to one client. */
export function initializeParams(clientInfo: ClientInfo): JsonObject {
  return { protocolVersion: LATEST_SESSION_REVISION, capabilities: {}, clientInfo: { ...clientInfo } };
}

/** Returns the per-request fields of MCP 2026-07-28. */
export function statelessParams(clientInfo: ClientInfo): JsonObject {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': LATEST_STATELESS_REVISION,
      'io.modelcontextprotocol/clientInfo': { ...clientInfo },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

/** Returns the older of two known revisions. If one is unknown, returns the revision of the process. */
export function agreedRevision(requested: string | undefined, spoken: string): string {
  const revisions: readonly string[] = SESSION_REVISIONS;
  const asked = requested === undefined ? -1 : revisions.indexOf(requested);
  return asked >= 0 && asked < revisions.indexOf(spoken) ? (revisions[asked] ?? spoken) : spoken;
}

/**
 * Returns the capabilities without tasks: a task belongs to one client, but a shared process lists all tasks to every
 * client.
 */
export function sharedCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _, ...rest } = capabilities;
  return rest;
}
