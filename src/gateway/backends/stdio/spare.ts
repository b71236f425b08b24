// Asks an unused process which era it speaks, and keeps it for its first use.

import { scanMessage } from '../../wire/scan.ts';
import type { Era } from '../backend.ts';
import type { LinkHandlers } from '../link.ts';
import type { BackendClock } from '../ports.ts';
import { lineOf, type ProcessLine } from './line.ts';
import { type ClientInfo, statelessParams } from './protocol.ts';

export interface Spare {
  readonly line: ProcessLine;
  readonly era: Era;
  /** Undefined while it can be used. */
  ended(): string | undefined;
  /** From now on these hear of it. */
  use(handlers: LinkHandlers): void;
}

export interface SpareParts {
  readonly take: (handlers: LinkHandlers) => Promise<ProcessLine>;
  readonly clock: BackendClock;
  readonly clientInfo: ClientInfo;
  /** Plain text; no other request has it. */
  readonly id: string;
  /** A process that says nothing for so long speaks the session era. */
  readonly discoverMs: number;
}

/**
 * Takes a process and asks it (MCP 2026-07-28, stdio, Backward Compatibility). A process that ends at the question speaks the
 * session era: such servers end at a message that comes before `initialize`. Rejects with a Failure.
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
    // It may be slow to start, and end at the question later.
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
