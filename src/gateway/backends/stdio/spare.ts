// Detects the era of an unused process, and keeps the process for its first session.

import { scanMessage } from '../../wire/scan.ts';
import type { Era } from '../backend.ts';
import type { LinkHandlers } from '../link.ts';
import type { BackendClock } from '../ports.ts';
import { lineOf, type ProcessLine } from './line.ts';
import { type ClientInfo, statelessParams } from './protocol.ts';

export interface Spare {
  readonly line: ProcessLine;
  readonly era: Era;
  /** Returns why the process ended. undefined while the process is usable. */
  ended(): string | undefined;
  /** Sets the handlers for all later messages. */
  use(handlers: LinkHandlers): void;
}

export interface SpareParts {
  readonly take: (handlers: LinkHandlers) => Promise<ProcessLine>;
  readonly clock: BackendClock;
  readonly clientInfo: ClientInfo;
  /** Id of the request, as plain text. Must differ from all other ids that the process gets. */
  readonly id: string;
  /** Time after which a process that has not answered is treated as a process of the session era. */
  readonly discoverMs: number;
}

/**
 * Takes a process and sends `server/discover` (MCP 2026-07-28, stdio, Backward Compatibility). A process that ends at
 * this request counts as a process of the session era, because some servers of this era end at any message before
 * `initialize`. Rejects with a Failure.
 */
export async function takeSpare({ take, clock, clientInfo, id, discoverMs }: SpareParts): Promise<Spare> {
  let end: string | undefined;
  let answered: (era: Era) => void = () => undefined;
  const era = new Promise<Era>((resolve) => {
    answered = resolve;
  });
  let handlers: LinkHandlers = {
    message: (bytes) => answered(speaksStateless(bytes, id) ? 'stateless' : 'session'),
    closed: () => answered('session'),
    drain: () => undefined,
  };
  const line = await take({
    message: (bytes) => handlers.message(bytes),
    closed(detail) {
      end = detail;
      handlers.closed(detail);
    },
    drain: () => handlers.drain(),
  });
  const stopWaiting = clock.after(discoverMs, () => {
    // A process that starts slowly may end later because of the request, so the process cannot be used.
    void line.close();
    end ??= 'it does not answer server/discover';
    answered('session');
  });
  const question = { jsonrpc: '2.0', id, method: 'server/discover', params: statelessParams(clientInfo) };
  line.sendLine(lineOf([Buffer.from(JSON.stringify(question))]));
  const spoken = await era;
  stopWaiting();
  return {
    line,
    era: spoken,
    ended: () => end,
    use(next) {
      handlers = next;
    },
  };
}

function speaksStateless(bytes: Buffer, id: string): boolean {
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'response') return false;
  return scanned.message.id?.json === JSON.stringify(id) && scanned.message.result !== undefined;
}
