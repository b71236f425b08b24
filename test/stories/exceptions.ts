// What a mode cannot do as the server itself does it, each with the reason. The list may only shrink: an entry whose outcome
// is that of the server itself fails its test.

export interface Exception {
  readonly modes: readonly string[];
  readonly story: string;
  readonly reason: string;
}

/** One process with sessions for all clients. */
const SHARED = ['stdio-shared', 'stdio-sse-front', 'bridge-2026-2025-stdio'];

const UNATTRIBUTED =
  'A shared process has one handshake for all clients, and its requests have no reference to the call that they belong to (MCP 2025-11-25, basic/lifecycle, Initialization): no capabilities are declared to it, and it asks nothing.';

const OWN_PROCESSES =
  'Calls at the same time have sessions, and so processes, of their own, so that questions of the server belong to one call: one process does not know what another is doing, which clients must not count on (MCP 2026-07-28, basic, Statelessness).';

export const EXCEPTIONS: readonly Exception[] = [
  ...['sampling', 'elicitation', 'roots', 'two clients at once'].map((story) => ({
    modes: SHARED,
    story,
    reason: UNATTRIBUTED,
  })),
  { modes: ['bridge-2026-2025-per-session'], story: 'cancel', reason: OWN_PROCESSES },
];
