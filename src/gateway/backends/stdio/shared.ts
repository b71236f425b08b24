// Serves a stdio server as a backend with one process for many clients.

import type { Backend } from '../backend.ts';
import type { OpenStreams } from '../ports.ts';
import type { SessionLimits } from '../sessions/limits.ts';
import { createSessionBackend } from '../sessions/sessions.ts';
import { MAX_LINE_BYTES, openLine } from './line.ts';
import { createSharedLines, type SharedLinesParts } from './shared-lines.ts';

export interface SharedStdioParts extends Omit<SharedLinesParts, 'open' | 'statelessOnly'> {
  /** Opens the streams of the process, which has the index 0. */
  readonly openStreams: OpenStreams;
  readonly limits?: Partial<SessionLimits>;
  readonly maxLineBytes?: number;
}

/** Creates the backend. The first exchange or probe starts the process. */
export function createSharedStdio(parts: SharedStdioParts): Backend {
  const { openStreams, observer, clock, replica, limits, maxLineBytes = MAX_LINE_BYTES } = parts;
  const line = { openStreams, observer, clock, maxLineBytes };
  const lines = createSharedLines({ ...parts, open: (handlers) => openLine(line, 0, handlers) });
  return createSessionBackend({
    ...{ replica, clock, observer, limits },
    open: (exchange, handlers) => lines.open('session', exchange, handlers),
    openRequest: (exchange, handlers) => lines.open('stateless', exchange, handlers),
    eras: lines.eras,
    probe: lines.probe,
    close: lines.close,
  });
}
