// Removes extensions from requests to members, except the extensions that the virtual server supports.

import assert from 'node:assert/strict';
import type { JsonObject } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import { applyPatches, changeMembers } from '../../backends/bridge/edit.ts';
import { APPS, declaredExtension, SKILLS, TASKS } from '../../wire/extensions/identifiers.ts';
import type { Span } from '../../wire/message.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';

/** Extensions that pass for every client and request. */
const CARRIED: readonly string[] = [APPS, SKILLS];

/**
 * Removes unsupported extensions. A member may use a declared extension in its answer, for example by creating a task.
 * The virtual server could not pass on a task for its own calls, or for a tool that is not known to create tasks.
 */
export function withCarriedExtensions(exchange: Exchange): Exchange {
  const { body, message, era, carriesTasks = false } = exchange;
  if (body === undefined || message?.kind !== 'request') return exchange;
  const { method, params, meta } = message;
  const capabilities = meta?.clientCapabilities;
  const declared = capabilities === undefined ? undefined : readValue(body, capabilities);
  const carried = carriedExtensions(declared, carriesTasks ? [TASKS, ...CARRIED] : CARRIED);
  const kept = carried === undefined ? [] : [`"extensions":${JSON.stringify(carried)}`];
  const patches = [
    ...((capabilities && changeMembers(body, capabilities.start, isNotCarried, kept)) ?? []),
    // Without `task`, a server answers directly, as servers without tasks do (MCP 2025-11-25, Tasks).
    ...((era === 'session' && method === 'tools/call' && !carriesTasks && params && withoutTask(body, params)) || []),
  ];
  if (patches.length === 0) return exchange;
  const changed = applyPatches(body, patches);
  const scanned = scanMessage(changed);
  assert(scanned.ok, 'a message stays one without members');
  return { ...exchange, body: changed, message: scanned.message };
}

function carriedExtensions(capabilities: unknown, extensions: readonly string[]): JsonObject | undefined {
  const declared = extensions.flatMap((each) => {
    const settings = declaredExtension(capabilities, each);
    return settings === undefined ? [] : [[each, settings] as const];
  });
  return declared.length === 0 ? undefined : Object.fromEntries(declared);
}

/** Returns the client's capabilities for `initialize` at a member. */
export function carriedCapabilities(capabilities: JsonObject): JsonObject {
  const extensions = carriedExtensions(capabilities, CARRIED);
  const kept = Object.fromEntries(Object.entries(capabilities).filter(([key]) => !isNotCarried(key)));
  return extensions === undefined ? kept : { ...kept, extensions };
}

function isNotCarried(key: string): boolean {
  return key === 'extensions' || key === 'tasks';
}

function withoutTask(body: Buffer, { start }: Span) {
  return changeMembers(body, start, (key) => key === 'task');
}
