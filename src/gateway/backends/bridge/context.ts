// Defines the context that all parts of a bridge share.

import type { Backend, Flow } from '../backend.ts';
import type { Asking } from './ask.ts';
import type { BridgeLimits, BridgePorts } from './ports.ts';

export interface BridgeContext {
  readonly backend: Backend;
  readonly ports: BridgePorts;
  readonly limits: BridgeLimits;
  /** Reports that the server does not seem to speak the assumed era. The next request detects the era again. */
  readonly doubtEra: () => void;
}

export function askingOf({ backend, ports, limits }: BridgeContext): Asking {
  return { backend, clock: ports.clock, timeoutMs: limits.askMs, maxBytes: limits.messageBytes };
}

export const NO_FLOW: Flow = {
  abort: () => undefined,
  resume: () => undefined,
};

export interface LaterFlow extends Flow {
  /** Attaches the flow that does the work. Aborts this flow at once if the client has disconnected. */
  begin(flow: Flow): void;
  aborted(): boolean;
}

/** Creates a flow for work that starts after a wait. */
export function createLaterFlow(): LaterFlow {
  let inner: Flow | undefined;
  let aborted = false;
  return {
    begin(flow) {
      inner = flow;
      if (aborted) flow.abort();
    },
    aborted: () => aborted,
    abort() {
      aborted = true;
      inner?.abort();
    },
    resume: () => inner?.resume(),
  };
}

export function uniqueText({ ports }: Pick<BridgeContext, 'ports'>): string {
  return ports.clock.random(12).toString('base64url');
}
