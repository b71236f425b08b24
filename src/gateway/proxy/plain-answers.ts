// Answers requests that are not MCP: health, metrics, the login metadata (RFC 9728) and further documents.

import type { ServerResponse } from 'node:http';
import { resourceMetadata } from '#auth/metadata.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import type { JsonObject } from '#std/json.ts';
import { METRICS_CONTENT_TYPE } from '#std/telemetry/metrics.ts';
import type { Health } from './health.ts';
import { metadataPaths } from './settings.ts';

export interface PlainAnswers {
  readonly health: Health;
  /** If absent, callers are not authenticated, and the login metadata is not served. */
  readonly resource?: ResourceSettings;
  /** Returns the text of /metrics. If absent, this listener does not serve metrics. */
  readonly metricsText?: () => string;
  /** Further JSON documents, by path. */
  readonly documents?: Readonly<Record<string, () => JsonObject>>;
}

const READ_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD'];

export type PlainRoutes = ReadonlyMap<string, PlainRoute>;

/** Answers a request. Returns false if no route has the path. */
export function answerPlain(
  routes: PlainRoutes,
  path: string,
  method: string | undefined,
  response: ServerResponse,
): boolean {
  const found = routes.get(path);
  if (found === undefined) return false;
  if (method === 'OPTIONS' && found.open) {
    sendText(response, 204, 'text/plain', '', { ...OPEN, 'access-control-allow-methods': 'GET' });
  } else if (!READ_METHODS.includes(method)) {
    sendText(response, 405, 'text/plain; charset=utf-8', 'method not allowed\n', { allow: 'GET, HEAD' });
  } else {
    const { status, type, text } = found.answer();
    sendText(response, status, type, method === 'HEAD' ? '' : text, found.open ? OPEN : {});
  }
  return true;
}

const OPEN = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' } as const;

interface Plain {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

interface PlainRoute {
  readonly answer: () => Plain;
  /** True if pages of other origins may read the answer. */
  readonly open: boolean;
}

/** Returns routes by path. Login metadata, metrics and health take precedence over a document with the same path. */
export function plainRoutes({ health, resource, metricsText, documents = {} }: PlainAnswers): PlainRoutes {
  const closed = (path: string, answer: () => Plain): [string, PlainRoute] => [path, { open: false, answer }];
  return new Map([
    ...Object.entries(documents).map(([path, document]) => closed(path, () => json(200, document()))),
    ...(resource === undefined ? [] : metadataRoutes(resource)),
    ...(metricsText === undefined
      ? []
      : [closed('/metrics', () => ({ status: 200, type: METRICS_CONTENT_TYPE, text: metricsText() }))]),
    closed('/readyz', () => readiness(health.unready())),
    closed('/health', () => json(200, health.report())),
  ]);
}

function metadataRoutes(resource: ResourceSettings): readonly [string, PlainRoute][] {
  const answer = () => json(200, resourceMetadata(resource));
  return metadataPaths(resource).map((path) => [path, { open: true, answer }]);
}

function readiness(reason: string | undefined): Plain {
  return reason === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not_ready', reason });
}

function json(status: number, value: object): Plain {
  return { status, type: 'application/json; charset=utf-8', text: `${JSON.stringify(value)}\n` };
}

function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}
