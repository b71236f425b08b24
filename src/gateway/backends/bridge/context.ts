// What all parts of a bridge share.

import type { Backend, Flow } from '../backend.ts';
import type { Asking } from './ask.ts';
import type { BridgeLimits, BridgePorts } from './ports.ts';

export interface BridgeContext {
  readonly backend: Backend;
  readonly ports: BridgePorts;
  readonly limits: BridgeLimits;
  /** The backend does not speak the era that was thought: the next request asks again. */
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
  /** The flow that does the work, once it has begun. It is aborted at once where the client has gone meanwhile. */
  begin(flow: Flow): void;
  aborted(): boolean;
}

/** A flow for work that begins after something has been waited for. */
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

/** A text that is in no other process and no other time. */
export function uniqueText({ ports }: Pick<BridgeContext, 'ports'>): string {
  return ports.clock.random(12).toString('base64url');
}
