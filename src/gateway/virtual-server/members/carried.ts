// What a virtual server does not offer, members are not asked for: extensions and tasks of a client stay out of its requests.

import type { JsonObject } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import { applyPatches, changeMembers } from '../../backends/bridge/edit.ts';
import { scanMessage } from '../../wire/scan.ts';

/**
 * A member that hears of an extension may answer by it, for example with the handle of a task, and the client could not go on:
 * the virtual server does not say which member has it.
 */
export function withoutExtensions(exchange: Exchange): Exchange {
  const { body, message, era } = exchange;
  if (body === undefined || message?.kind !== 'request') return exchange;
  const { method, params, meta } = message;
  const capabilities = meta?.clientCapabilities;
  const patches = [
    ...((capabilities && changeMembers(body, capabilities.start, isNotCarried)) ?? []),
    // 2025-11-25, Tasks: a server that offers none answers at once.
    ...((era === 'session' && method === 'tools/call' && params && changeMembers(body, params.start, isTask)) || []),
  ];
  if (patches.length === 0) return exchange;
  const changed = applyPatches(body, patches);
  const scanned = scanMessage(changed);
  return scanned.ok ? { ...exchange, body: changed, message: scanned.message } : exchange;
}

/** Of a client, for `initialize` at a member. */
export function carriedCapabilities(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([key]) => !isNotCarried(key)));
}

function isNotCarried(key: string): boolean {
  return key === 'extensions' || key === 'tasks';
}

function isTask(key: string): boolean {
  return key === 'task';
}
