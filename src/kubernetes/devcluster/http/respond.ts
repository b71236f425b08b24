// Sends responses as JSON or YAML, compressed if the body is large enough. Errors become Status objects.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import type { JsonObject } from '#std/json.ts';
import { apiError, statusOf } from '../api/status.ts';

const COMPRESS_FROM_BYTES = 128 * 1024;
const compress = promisify(gzip);

export interface ApiResponse {
  readonly code: number;
  /** Absent if the body is empty. */
  readonly contentType?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export function jsonAnswer(code: number, value: unknown, headers: ApiResponse['headers'] = {}): ApiResponse {
  return { code, contentType: 'application/json', body: `${JSON.stringify(value)}\n`, headers };
}

export function yamlAnswer(code: number, value: unknown, headers: ApiResponse['headers'] = {}): ApiResponse {
  return { code, contentType: 'application/yaml', body: stringify(value, { version: '1.1' }), headers };
}

export function textAnswer(code: number, body: string): ApiResponse {
  return { code, contentType: 'text/plain; charset=utf-8', body };
}

export const PAGE_NOT_FOUND = textAnswer(404, '404 page not found\n');

/** Converts an error to a response. A bug becomes a 500 with its message, because this server is for development. */
export function errorAnswer(error: unknown): ApiResponse {
  const status = statusOf(error) ?? internalError(error);
  const code = typeof status.code === 'number' ? status.code : 500;
  return jsonAnswer(code, status, retryHeaders(status));
}

function internalError(error: unknown): JsonObject {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `Internal error occurred: ${text}`;
  return statusOf(apiError(500, 'InternalError', message, { causes: [{ message: text }] })) ?? {};
}

function retryHeaders(status: JsonObject): Record<string, string> {
  const details = status.details;
  const seconds =
    typeof details === 'object' && details !== null && 'retryAfterSeconds' in details
      ? details.retryAfterSeconds
      : undefined;
  return typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {};
}

export async function sendAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  answer: ApiResponse,
): Promise<void> {
  if (response.destroyed) return;
  const headers: Record<string, string | string[]> = { 'cache-control': 'no-cache, private' };
  if (answer.contentType !== undefined) headers['content-type'] = answer.contentType;
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  let body = Buffer.from(answer.body, 'utf8');
  if (body.length > COMPRESS_FROM_BYTES && acceptsGzip(message) && message.method === 'GET') {
    body = await compress(body, { level: 1 });
    headers['content-encoding'] = 'gzip';
    headers.vary = 'Accept-Encoding';
  }
  headers['content-length'] = String(body.length);
  response.writeHead(answer.code, headers);
  response.end(message.method === 'HEAD' ? undefined : body);
}

/** Sends a response instead of performing the upgrade. */
export function refuseUpgrade(socket: Duplex, { code, contentType = 'text/plain', body }: ApiResponse): void {
  const length = Buffer.byteLength(body);
  const head = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\ncontent-type: ${contentType}\r\ncontent-length: ${length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}

function acceptsGzip(message: IncomingMessage): boolean {
  return (message.headers['accept-encoding'] ?? '').includes('gzip');
}

/** Formats Warning headers (RFC 7234 section 5.5) as API servers do: `299 - "text"`. */
export function warningHeaders(warnings: readonly string[]): Record<string, readonly string[]> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`) };
}
