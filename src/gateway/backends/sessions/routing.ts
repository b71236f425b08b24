// Parses the routing data of a server's message.

import type { Message } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Routed } from './link.ts';

/** Returns the routing data, or the reason why the bytes are not a message. */
export function readRouted(bytes: Buffer): Routed | string {
  const scanned = scanMessage(bytes);
  return scanned.ok ? routedOf(scanned.message) : scanned.fault.message;
}

function routedOf(message: Message): Routed {
  switch (message.kind) {
    case 'response':
      return { kind: 'response', id: message.id?.json, failed: message.error !== undefined };
    case 'request':
      return { kind: 'request', id: message.id.json, method: message.method };
    case 'notification':
      return { kind: 'notification', method: message.method, token: progressToken(message) };
  }
}

function progressToken({ method, refersTo }: Extract<Message, { kind: 'notification' }>): string | undefined {
  return method === 'notifications/progress' ? refersTo?.json : undefined;
}

/** Notifications that belong to no request of a client (MCP 2025-11-25, Transports, "Listening for Messages"). */
const UNRELATED = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);

export function isUnrelated(method: string): boolean {
  return UNRELATED.has(method);
}
