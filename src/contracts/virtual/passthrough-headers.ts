// Defines which headers of clients a virtual server sends to its members.

import { list, text } from '#std/schema.ts';

/** Names of headers are case-insensitive (RFC 9110 section 5.1). */
export const PassthroughHeaders = list(
  text('Name of a header.', { minLength: 1, maxLength: 255, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
  'Headers of a client that reach the members, in addition to the headers of MCP itself. Lists of tools are read for each client with its values. Default: every header but credentials and headers of the connection.',
  { maxItems: 100 },
);

/** Headers that identify a caller to the virtual server. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'mcp-session-id']);
/** Headers about the client's connection, which the virtual server handles. */
const ANSWERED_HERE: ReadonlySet<string> = new Set(['accept-encoding', 'expect']);

/** Returns the reason why the header must not be passed to members. Ignores case. */
export function passthroughFault(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (CREDENTIALS.has(lower)) return 'it identifies the caller, and a member that gets it could act as the caller';
  return ANSWERED_HERE.has(lower)
    ? 'it is about the connection to the virtual server and is never forwarded'
    : undefined;
}
