// Serves an HTTP+SSE server (MCP 2024-11-05) as a backend. Each client session has its own event stream at the server.

import type { Backend, Era, Probe } from '../backend.ts';
import type { SessionLimits } from '../sessions/limits.ts';
import { createSessionBackend } from '../sessions/sessions.ts';
import type { SseOptions, SsePorts } from './ports.ts';
import { openSseLink } from './session-link.ts';

export interface SseBackendParts extends SsePorts {
  /** Prefix of event ids, without dots. Differs between replicas and after each restart. */
  readonly replica: string;
  readonly limits?: Partial<SessionLimits>;
}

const ERAS: ReadonlySet<Era> = new Set<Era>(['session']);

export function createSseBackend(options: SseOptions, parts: SseBackendParts): Backend {
  const { replica, observer, limits, clock, upstream } = parts;
  return createSessionBackend({
    replica,
    clock,
    observer,
    limits,
    open: (exchange, handlers) => openSseLink(options, { upstream, clock, observer }, exchange, handlers),
    eras: () => ERAS,
    probe: () => probe(options, parts),
    close: async () => undefined,
  });
}

const PROBE_MS = 5000;

/** Opens the event stream and closes it again. A server that answers with a status below 500 is available. */
function probe({ url, host }: SseOptions, { upstream, clock }: SsePorts): Promise<Probe> {
  const began = clock.monotonic();
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (host !== undefined) headers.host = host;
  return new Promise((resolve) => {
    const flow = upstream.request(
      { method: 'GET', url, headers, stream: true, firstByteMs: PROBE_MS, idleMs: PROBE_MS },
      {
        head(status) {
          const responseTimeMs = Math.round(clock.monotonic() - began);
          const available = status < 500;
          resolve({ available, responseTimeMs, error: available ? undefined : `status ${status}` });
          clock.after(0, () => flow.abort());
        },
        data: () => true,
        end: () => undefined,
        failed: ({ detail }) => resolve({ available: false, error: detail }),
      },
    );
  });
}
