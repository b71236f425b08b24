// Extensions that a client declares reach a member only if the virtual server can carry them to their end.

import assert from 'node:assert/strict';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import { applyPatches, changeMembers } from '../../backends/bridge/edit.ts';
import { TASKS } from '../../wire/extensions/identifiers.ts';
import type { Span } from '../../wire/message.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';

/**
 * A member that hears of an extension may answer by it, for example with the handle of a task. For a client with sessions, and
 * for calls of the virtual server's own, nobody could ask for that task.
 */
export function withCarriedExtensions(exchange: Exchange): Exchange {
  const { body, message, era, carriesTasks = false } = exchange;
  if (body === undefined || message?.kind !== 'request') return exchange;
  const { method, params, meta } = message;
  const capabilities = meta?.clientCapabilities;
  const kept = carriesTasks && declaresTasks(body, capabilities) ? [`"extensions":{"${TASKS}":{}}`] : [];
  const patches = [
    ...((capabilities && changeMembers(body, capabilities.start, isNotCarried, kept)) ?? []),
    // 2025-11-25, Tasks: a server that offers none answers at once.
    ...((era === 'session' && method === 'tools/call' && params && changeMembers(body, params.start, isTask)) || []),
  ];
  if (patches.length === 0) return exchange;
  const changed = applyPatches(body, patches);
  const scanned = scanMessage(changed);
  assert(scanned.ok, 'a message stays one without members');
  return { ...exchange, body: changed, message: scanned.message };
}

function declaresTasks(body: Buffer, capabilities: Span | undefined): boolean {
  const declared = capabilities === undefined ? undefined : readValue(body, capabilities);
  return isObject(declared) && isObject(declared.extensions) && isObject(declared.extensions[TASKS]);
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
