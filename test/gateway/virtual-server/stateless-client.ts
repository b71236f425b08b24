// Sends requests as a client of 2026-07-28 with any declared extensions.

import { postTo } from './world.ts';

export const REVISION = '2026-07-28';
export const TASKS = 'io.modelcontextprotocol/tasks';
export const APPS = 'io.modelcontextprotocol/ui';
export const SKILLS = 'io.modelcontextprotocol/skills';

/** Settings by declared extension. */
export type Declared = Readonly<Record<string, object>>;

export const SHOWS_APPS: Declared = { [APPS]: { mimeTypes: ['text/html;profile=mcp-app'] } };

export function statelessMeta(extensions: Declared): object {
  return {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { sampling: {}, extensions },
  };
}

export function statelessHeaders(method: string, name: string): Readonly<Record<string, string>> {
  return { 'mcp-protocol-version': REVISION, 'mcp-method': method, 'mcp-name': name };
}

/** Sends a request and returns the response message. `name` is the name of the tool, or the URI. */
export async function askStateless(
  { url }: { readonly url: string },
  method: string,
  params: object,
  name: string,
  extensions: Declared = {},
) {
  const message = { id: 1, method, params: { ...params, _meta: statelessMeta(extensions) } };
  return (await postTo(url, message, statelessHeaders(method, name))).json;
}
