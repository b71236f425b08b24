// Seals task ids for clients: only the caller that created a task can use its id. The id contains the tool, so replicas
// need no common store of tasks.

import type { RenameTask } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { SessionSeal } from '../../wire/seal.ts';

export interface MadeTask {
  /** The server's id of the task. */
  readonly id: string;
  /** Name by which the client called the tool. */
  readonly tool: string;
  /** The server's name of the tool. */
  readonly own: string;
  /** Digest of the policies that permitted the call. Empty without policies. */
  readonly policies: string;
}

export interface TaskIds {
  /** Returns an id for the client, different at each call. Returns undefined if the id is too long for a header. */
  seal(task: MadeTask, caller: string): string | undefined;
  /**
   * Returns the task. Returns undefined if the text is not a valid id of this caller, or if the key that sealed it was
   * removed.
   */
  open(text: string, caller: string): MadeTask | undefined;
}

/** `now` returns milliseconds since 1970. */
export function createTaskIds(seal: SessionSeal, now: () => number): TaskIds {
  return {
    seal: ({ id, ...data }, caller) => seal.seal({ id, issuedAt: now(), caller: ownerOf(caller), data }),
    open(text, caller) {
      const { id, data: { tool, own, policies } = {} } = seal.open(text, ownerOf(caller)) ?? {};
      const known = typeof tool === 'string' && typeof own === 'string' && typeof policies === 'string';
      return id === undefined || !known ? undefined : { id, tool, own, policies };
    },
  };
}

/** Adds a prefix, so that a sealed task id never opens as a session id. */
function ownerOf(caller: string): string {
  return `task ${caller}`;
}

/**
 * Returns the function that replaces task ids in the answer to a request, or undefined if the answer contains no task
 * ids. `own` is the server's name of the called tool. `policies` is the digest of the current policies.
 */
export function taskNaming(
  ids: TaskIds,
  { method, target }: RequestMessage,
  caller: string,
  { own, policies }: Pick<MadeTask, 'own' | 'policies'>,
): RenameTask | undefined {
  if (target === undefined) return undefined;
  const { value } = target;
  if (method === 'tools/call') return (id) => ids.seal({ id, tool: value, own, policies }, caller);
  if (!method.startsWith('tasks/')) return undefined;
  const opened = ids.open(value, caller)?.id;
  return (id) => (id === opened ? value : id);
}
