// Defines names of clients' headers that are passed to the members of a virtual server.

import { list, text } from '#std/schema.ts';

/** Names of headers are compared without regard to case (RFC 9110 section 5.1). */
export const PassthroughHeaders = list(
  text('Name of a header.', { minLength: 1, maxLength: 255, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
  'Headers of a client that reach the members, in addition to the headers of MCP itself. Lists of tools are read for each client with its values. Default: every header but credentials and headers of the connection.',
  { maxItems: 100 },
);

/** These headers identify a caller to the virtual server. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'mcp-session-id']);
/** The virtual server itself handles these headers, for its own connection to the client. */
const ANSWERED_HERE: ReadonlySet<string> = new Set(['accept-encoding', 'expect']);

/** Returns the reason why a configuration must not pass the header, regardless of case. */
export function passthroughFault(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (CREDENTIALS.has(lower)) return 'it identifies the caller, and a member that gets it could act as the caller';
  return ANSWERED_HERE.has(lower)
    ? 'it is about the connection to the virtual server and is never forwarded'
    : undefined;
}
