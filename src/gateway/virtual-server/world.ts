// Defines the context of all parts that answer clients of a virtual server.

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
  /** Calls `task` repeatedly until the returned function is called. Does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
}

export interface World {
  readonly name: string;
  readonly version: string;
  readonly clock: VmcpClock;
  readonly members: Members;
  readonly catalogue: Catalogue;
  readonly sessions: Sessions;
  /** Limits notifications that are on their way to members. */
  readonly notifications: CallerBytes;
  /** Returns why policies do not permit a call of an own tool to its caller, or undefined if they permit it. */
  readonly denial: (cause: Exchange, body: Buffer, message: RequestMessage) => string | undefined;
  /** Returns a check of the tools that policies permit to a caller, or undefined if all tools are permitted. */
  readonly permittedTools: (cause: Exchange) => ((tool: string) => boolean) | undefined;
  /** Counts a member's tool that an own tool calls. Returns the seconds to wait if a limit refuses the call. */
  readonly limitInner: (cause: Exchange, tool: string) => Promise<number | undefined>;
  readonly optimizer: Optimizer;
  /** Maximum size of members' messages that are read. Larger messages are refused. */
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
 * Returns the JSON text of an id, or progress token, for the virtual server's own request in a client's session at a
 * member. The id is random, since the member would refuse the id of another request in flight, or mix up the answers.
 */
export function ownRequestId({ clock }: Pick<World, 'clock'>): string {
  return JSON.stringify(`skep-${clock.random(ID_BYTES).toString('base64url')}`);
}
