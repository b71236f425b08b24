// Converts error responses of the API server to failures with the reason of the Status body.

import type { IncomingMessage } from 'node:http';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';

export function podPath(namespace: string, pod: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
}

/** Throws if the response exceeds `maxBytes` or is incomplete. */
export async function readBounded(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Parses a Kubernetes `Status`. undefined if the text is not a `Status`. */
export function statusIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value.kind === 'Status' ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const SHOWN_CHARACTERS = 300;

/**
 * Matches messages of an API server or kubelet that does not support the requested protocol: "unable to upgrade: unable
 * to negotiate protocol", "Upgrade request required", "requested protocol(s) are not supported".
 */
const ABOUT_PROTOCOL = /\b(upgrade|(sub)?protocols?)\b/i;

/**
 * True if the refusal is about the protocol. Without a common subprotocol, the handshake fails with 403 and an empty
 * body.
 */
function isAboutProtocol(status: number, text: string, reason: string, why: string): boolean {
  if ((status !== 400 && status !== 403) || reason === 'Forbidden') return false;
  return ABOUT_PROTOCOL.test(why) || (status === 403 && text.trim() === '');
}

export function attachRefusal(status: number, text: string, pod: string): Failure {
  const said = statusIn(text);
  const why = typeof said?.message === 'string' ? said.message : text.trim().slice(0, SHOWN_CHARACTERS);
  const message = `the API server refuses pod ${pod} with ${status}: ${why}`;
  const kubernetesReason = typeof said?.reason === 'string' ? said.reason : '';
  const data = { status, pod, kubernetesReason, another: isAboutProtocol(status, text, kubernetesReason, why) };
  return new Failure('attach-refused', message, { data, retryable: status >= 500 || status === 429 || status === 404 });
}
