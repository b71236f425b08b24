// Issues the ids of tasks that clients get in place of the server's: only the caller that created a task can name it,
// and each id contains the tool that created it, so that no replica has to remember tasks.

import type { RenameTask } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { SessionSeal } from '../../wire/seal.ts';

export interface MadeTask {
  /** The server's own id. */
  readonly id: string;
  /** Name of the tool that the client used. */
  readonly tool: string;
  /** Name of the tool at the server. */
  readonly own: string;
  /** Digest of the policies that permitted the call; empty without policies. */
  readonly policies: string;
}

export interface TaskIds {
  /**
   * Returns the client's id, which is different at each call for the same task. Returns undefined if it would be too
   * long for a header.
   */
  seal(task: MadeTask, caller: string): string | undefined;
  /**
   * Returns the task, or undefined if the text was not sealed by us, was changed, or belongs to another caller or to a
   * key that was removed.
   */
  open(text: string, caller: string): MadeTask | undefined;
}

/** Creates the ids. `now` returns milliseconds since 1970. */
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

/** Returns the caller with a mark for tasks, so that the sealed id of a task never opens as a session. */
function ownerOf(caller: string): string {
  return `task ${caller}`;
}

/**
 * Returns how the answer to a request names tasks, or undefined if it names no tasks. `own` is the called tool's name
 * at the server, and `policies` is the digest of the current policies.
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
