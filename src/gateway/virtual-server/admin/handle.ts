// Serves a read-only page and JSON documents to operators of a virtual server. Every client that reaches the address
// may read the documents, which contain names of backends.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '#std/json.ts';
import { PAGE_HEADERS, SECURITY_HEADERS } from '#std/page/headers.ts';
import { originRules } from '../../gate/origin.ts';
import { readAdminPage } from '../page/assets.ts';

export interface AdminParts {
  /**
   * Address of the listener. On a loopback address, the listener refuses requests for other host names (DNS rebinding).
   */
  readonly address: string;
  /** Documents by path. */
  readonly documents: Readonly<Record<string, () => JsonObject>>;
  /** Logs an error that prevented an answer. */
  readonly failed: (error: unknown) => void;
}

interface AdminResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

export function createAdmin(parts: AdminParts): (request: IncomingMessage, response: ServerResponse) => void {
  const origins = originRules({ listenHost: parts.address, trustForwarded: false });
  let page: ReturnType<typeof readAdminPage> | undefined;

  async function find(path: string): Promise<AdminResponse> {
    const document = Object.hasOwn(parts.documents, path) ? parts.documents[path] : undefined;
    if (document !== undefined) return json(200, document());
    page ??= readAdminPage().catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    const { template, files } = await page;
    if (path === '/') return { status: 200, type: 'text/html; charset=utf-8', text: template, headers: PAGE_HEADERS };
    const file = files.find(({ name }) => path === `/page/${name}`);
    return file === undefined ? json(404, { error: 'not found' }) : { status: 200, type: file.type, text: file.body() };
  }

  async function answer(request: IncomingMessage): Promise<AdminResponse> {
    const denial = origins.refuse(request);
    if (denial !== undefined) return json(denial.httpStatus, { error: denial.message, code: denial.code });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return { ...json(405, { error: 'method not allowed' }), headers: { allow: 'GET, HEAD' } };
    }
    return find((request.url ?? '').split('?', 1)[0] ?? '');
  }

  return (request, response) => {
    request.resume();
    answer(request)
      .catch((error: unknown) => {
        parts.failed(error);
        return json(500, { error: 'the document cannot be shown' });
      })
      .then((found) => sendFound(response, found, request.method === 'HEAD'));
  };
}

function json(status: number, value: JsonObject): AdminResponse {
  return { status, type: JSON_TYPE, text: `${JSON.stringify(value)}\n` };
}

function sendFound(response: ServerResponse, { status, type, text, headers }: AdminResponse, headOnly: boolean): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(headOnly ? '' : text);
}
