// Reads the name and version that a client states. These facts are unverified and appear only in logs.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Message } from '../wire/message.ts';
import { readValue } from '../wire/scan.ts';

export interface ClientInfo {
  readonly name?: string;
  readonly version?: string;
}

const TEXT_MAX = 100;

/**
 * Returns name and version from `initialize`, or from `_meta` (MCP 2026-07-28). Returns undefined if the message has no
 * client info.
 */
export function clientInfoOf(message: Message | undefined, body: Buffer | undefined): ClientInfo | undefined {
  if (message === undefined || body === undefined || message.kind === 'response') return undefined;
  if (message.meta?.clientInfo !== undefined) return infoOf(readValue(body, message.meta.clientInfo));
  if (message.method !== 'initialize' || message.clientInfo === undefined) return undefined;
  return infoOf(readValue(body, message.clientInfo));
}

/** Returns the JSON form for a sealed session. */
export function sealedInfo({ name, version }: ClientInfo): JsonObject {
  return { name, version };
}

export function infoOf(value: unknown): ClientInfo | undefined {
  if (!isObject(value)) return undefined;
  return { name: boundedText(value.name), version: boundedText(value.version) };
}

function boundedText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, TEXT_MAX) : undefined;
}
