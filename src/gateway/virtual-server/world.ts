// Defines the dependencies of all code that answers clients of a virtual server.

import type { Exchange } from '../backends/backend.ts';
import type { Asking } from '../backends/bridge/ask.ts';
import type { BackendClock } from '../backends/ports.ts';
import type { RequestMessage } from '../wire/message.ts';
import type { CallerBytes } from './calls/caller-bytes.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Member, Members } from './members/member.ts';
import type { Optimizer } from './optimizer/optimizer.ts';
import type { Sessions } from './sessions/sessions.ts';

interface VmcpClock extends BackendClock {
  /** Calls `task` repeatedly until the returned function is called. The timer does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
}

export interface World {
  readonly name: string;
  readonly version: string;
  readonly clock: VmcpClock;
  readonly members: Members;
  readonly catalogue: Catalogue;
  readonly sessions: Sessions;
  /** Limits the bytes of notifications that are on their way to members. */
  readonly notifications: CallerBytes;
  /** Returns why policies refuse a call to the caller. Returns undefined if they permit the call. */
  readonly denial: (cause: Exchange, body: Buffer, message: RequestMessage) => string | undefined;
  /** Returns a check whether policies permit a tool to the caller. Returns undefined if policies permit all tools. */
  readonly permittedTools: (cause: Exchange) => ((tool: string) => boolean) | undefined;
  /** Counts a call of a member's tool by an own tool. Returns the seconds to wait if a limit refuses the call. */
  readonly limitInner: (cause: Exchange, tool: string) => Promise<number | undefined>;
  readonly optimizer: Optimizer;
  /** Maximum size of members' messages. Larger messages are refused. */
  readonly messageBytes: number;
  readonly log: (
    level: 'debug' | 'info' | 'warn',
    facts: Readonly<Record<string, string | number>>,
    message: string,
  ) => void;
}

/** Returns the settings for the virtual server's own requests to a member. */
export function askingOf({ clock, messageBytes }: Pick<World, 'clock' | 'messageBytes'>, member: Member): Asking {
  return { backend: member.backend, clock, timeoutMs: member.timeoutMs, maxBytes: messageBytes };
}

const ID_BYTES = 16;

/**
 * Returns the JSON text of an id or progress token for the virtual server's own request in a client's session. The id
 * is random: the member would refuse the id of another request in flight, or mix up the answers.
 */
export function ownRequestId({ clock }: Pick<World, 'clock'>): string {
  return JSON.stringify(`skep-${clock.random(ID_BYTES).toString('base64url')}`);
}
