// Checks whether a streamable HTTP server is available, by requests that start no session.

import type { Probe } from './backend.ts';
import type { BackendClock, Upstream } from './ports.ts';

interface Target {
  readonly url: string;
  readonly host?: string;
}

interface ProbePorts {
  readonly upstream: Upstream;
  readonly clock: Pick<BackendClock, 'monotonic'>;
}

const PROBE_MS = 5000;

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Servers with sessions refuse this request, and the probe accepts the refusal as an answer. */
const DISCOVER: Question = {
  headers: { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
  message: {
    jsonrpc: '2.0',
    id: 'skep-probe',
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'skep', version: '1' },
      },
    },
  },
};

/** Servers of the session era require a session for a ping, and the probe accepts the refusal as an answer. */
const PING: Question = { headers: ACCEPT, message: { jsonrpc: '2.0', id: 'skep-probe', method: 'ping' } };

interface Question {
  readonly headers: Readonly<Record<string, string>>;
  readonly message: object;
}

/**
 * Sends the probe requests. A server that answers at least one request with a status below 500 is available. Servers of
 * the session era may fail at an unknown method.
 */
export async function probeHttp(target: Target, ports: ProbePorts): Promise<Probe> {
  const discovered = await probeWith(target, ports, DISCOVER);
  if (discovered.available || !discovered.reached) return probeOf(discovered);
  const pinged = await probeWith(target, ports, PING);
  return probeOf(pinged.available ? pinged : discovered);
}

interface Probed extends Probe {
  /** True if the server was reached, even if the server's answer was a failure. */
  readonly reached: boolean;
}

function probeOf({ available, responseTimeMs, error }: Probed): Probe {
  return { available, responseTimeMs, error };
}

function probeWith(target: Target, { upstream, clock }: ProbePorts, question: Question): Promise<Probed> {
  const began = clock.monotonic();
  const headers: Record<string, string> = { ...question.headers };
  if (target.host !== undefined) headers.host = target.host;
  const body = Buffer.from(JSON.stringify(question.message));
  const request = { method: 'POST', url: target.url, headers, body, stream: false } as const;
  return new Promise((resolve) => {
    upstream.request(
      { ...request, firstByteMs: PROBE_MS, idleMs: PROBE_MS },
      {
        head(status) {
          const responseTimeMs = Math.round(clock.monotonic() - began);
          const error = status < 500 ? undefined : `status ${status}`;
          resolve({ available: status < 500, responseTimeMs, error, reached: true });
        },
        data: () => true,
        end: () => undefined,
        failed: ({ reason, detail }) => resolve({ available: false, error: detail, reached: reason === 'closed' }),
      },
    );
  });
}
