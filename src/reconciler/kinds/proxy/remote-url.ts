// Finds what is wrong with the URL of a remote MCP server, wherever it may be.

import type { Finding } from '../kind.ts';

export function remoteUrlFindings(url: string, pointer: string): readonly Finding[] {
  const fault = urlFault(url, pointer.slice(pointer.lastIndexOf('/') + 1));
  return fault === undefined ? [] : [{ code: 'remote-url-invalid', severity: 'error', pointer, message: fault }];
}

function urlFault(text: string, field: string): string | undefined {
  if (!URL.canParse(text)) return `${field} must be a whole URL, such as https://mcp.example.com/mcp`;
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '') {
    return `${field} must not hold credentials, which anyone could read here: use externalAuthConfigRef`;
  }
  return hash === '' ? undefined : `${field} must not hold a fragment, which no request carries`;
}
