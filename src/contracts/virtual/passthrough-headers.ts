// Names of headers of clients that reach the members of a virtual server.

import { list, text } from '#std/schema.ts';

/** Names of headers are compared without regard to case (RFC 9110 section 5.1). */
export const PassthroughHeaders = list(
  text('Name of a header.', { minLength: 1, maxLength: 255, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
  'Headers of a client that reach the members, in addition to those of MCP itself. Lists of tools are read for each client with its values. Default: every header but credentials and those of the connection.',
  { maxItems: 100 },
);

/** They show who a caller is, to the virtual server: a member that gets them could act as the caller there. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'mcp-session-id']);

/** Whether no configuration may let the header through, in any case of letters. */
export function isCallerCredential(name: string): boolean {
  return CREDENTIALS.has(name.toLowerCase());
}
