// What all parts share that answer clients of a virtual server.

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
  /** Calls back again and again until it is taken back; does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
}

export interface World {
  readonly name: string;
  readonly version: string;
  readonly clock: VmcpClock;
  readonly members: Members;
  readonly catalogue: Catalogue;
  readonly sessions: Sessions;
  /** Of notifications that are on their way to members. */
  readonly notifications: CallerBytes;
  /** Why policies do not permit a call of an own tool to its caller; undefined where they do. */
  readonly denial: (cause: Exchange, body: Buffer, message: RequestMessage) => string | undefined;
  /** The tools that a caller may call by what policies say; undefined: all of them. */
  readonly permittedTools: (cause: Exchange) => ((tool: string) => boolean) | undefined;
  /** Counts a call of a member's tool that an own tool makes. Gives the seconds to wait if a limit refuses it. */
  readonly limitInner: (cause: Exchange, tool: string) => Promise<number | undefined>;
  readonly optimizer: Optimizer;
  /** Larger messages of members that have to be read are refused. */
  readonly messageBytes: number;
  readonly log: (
    level: 'debug' | 'info' | 'warn',
    facts: Readonly<Record<string, string | number>>,
    message: string,
  ) => void;
}

/** How a member is asked for something by the virtual server itself. */
export function askingOf({ clock, messageBytes }: Pick<World, 'clock' | 'messageBytes'>, member: Member): Asking {
  return { backend: member.backend, clock, timeoutMs: member.timeoutMs, maxBytes: messageBytes };
}

const ID_BYTES = 16;

/**
 * JSON text of an id, or progress token, for a request of the virtual server itself in a client's session at a member. The client
 * cannot have one of its own with the same id in flight: a member would refuse the second, or mix up the answers.
 */
export function ownRequestId({ clock }: Pick<World, 'clock'>): string {
  return JSON.stringify(`skep-${clock.random(ID_BYTES).toString('base64url')}`);
}
