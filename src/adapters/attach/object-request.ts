// Sends a request about an object to the API server and reads the whole response up to a size limit.

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Failure } from '#std/failure.ts';
import type { AttachCredentials, AttachOptions } from './options.ts';
import { readBounded } from './refusal.ts';

const MAX_OBJECT_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

export interface ObjectRequest {
  readonly method: 'GET' | 'DELETE' | 'PATCH';
  /** JSON text. */
  readonly body?: string;
  /** Default: application/json. */
  readonly contentType?: string;
}

/** Returns the response with any status. Throws Failure `attach-unreachable`. */
export function requestObject(
  { server }: Pick<AttachOptions, 'server'>,
  path: string,
  { headers, tls }: AttachCredentials,
  { method, body, contentType = 'application/json' }: ObjectRequest,
): Promise<{ status: number; text: string }> {
  const url = new URL(`${server}${path}`);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  // Without an explicit length, Node sends the body of a DELETE without a Content-Length header.
  const content =
    body === undefined ? {} : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    function fail(cause: Error): void {
      reject(
        new Failure('attach-unreachable', `the API server cannot be reached: ${cause.message}`, {
          cause,
          retryable: true,
        }),
      );
    }
    const sent = request(url, {
      ...{ method, headers: { ...headers, ...content, accept: 'application/json' } },
      ...{ ...tls, timeout: TIMEOUT_MS },
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', fail);
    sent.on('response', (response) => {
      readBounded(response, MAX_OBJECT_BYTES).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
    });
    sent.end(body);
  });
}
