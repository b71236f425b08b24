// Defines the params of the gateway's handshake with a shared process, in either era.

import type { JsonObject } from '#std/json.ts';
import { LATEST_SESSION_REVISION, LATEST_STATELESS_REVISION, SESSION_REVISIONS } from '../../wire/revisions.ts';

/** Name and version that the gateway sends to the process. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/**
 * Returns the params of `initialize`. Declares no capabilities, because requests of a shared process cannot be
 * attributed to one client.
 */
export function initializeParams(clientInfo: ClientInfo): JsonObject {
  return { protocolVersion: LATEST_SESSION_REVISION, capabilities: {}, clientInfo: { ...clientInfo } };
}

/** Returns the `_meta` fields that every request of MCP 2026-07-28 needs. */
export function statelessParams(clientInfo: ClientInfo): JsonObject {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': LATEST_STATELESS_REVISION,
      'io.modelcontextprotocol/clientInfo': { ...clientInfo },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

/**
 * Returns the older of two known revisions. If a revision is unknown to the gateway, returns the revision of the
 * process.
 */
export function agreedRevision(requested: string | undefined, spoken: string): string {
  const revisions: readonly string[] = SESSION_REVISIONS;
  const asked = requested === undefined ? -1 : revisions.indexOf(requested);
  return asked >= 0 && asked < revisions.indexOf(spoken) ? (revisions[asked] ?? spoken) : spoken;
}

/**
 * Removes tasks from the capabilities. A task belongs to one client, but a shared process lists all tasks to every
 * client.
 */
export function sharedCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _, ...rest } = capabilities;
  return rest;
}
