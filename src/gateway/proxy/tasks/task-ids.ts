// The ids of tasks that clients get in place of the server's: only the caller that made a task can name it, and each id says
// which tool it was made with, so that no replica has to remember tasks.

import type { RenameTask } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { SessionSeal } from '../../wire/seal.ts';

export interface MadeTask {
  /** The server's own id. */
  readonly id: string;
  /** As the client named it. */
  readonly tool: string;
  /** The tool's name at the server. */
  readonly own: string;
  /** Digest of the policies that permitted the call; empty without policies. */
  readonly policies: string;
}

export interface TaskIds {
  /** Each call gives another text for the same task. Undefined if the text would be longer than a header should be. */
  seal(task: MadeTask, caller: string): string | undefined;
  /** Undefined if the text is not ours, was changed, or belongs to another caller or to a key that is gone. */
  open(text: string, caller: string): MadeTask | undefined;
}

/** `now`: milliseconds since 1970. */
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

/** A session of the same caller is not a task, and a task is not a session. */
function ownerOf(caller: string): string {
  return `task ${caller}`;
}

/**
 * How the answer to a request names tasks; undefined if it names none. `own`: the called tool's name at the server; `policies`: digest
 * of those in force.
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
