// The ids of tasks that clients get in place of the server's: only the caller that made a task can name it, and each id says
// which tool it was made with, so that no replica has to remember tasks.

import type { SessionSeal } from '../../wire/seal.ts';

export interface MadeTask {
  /** The server's own id. */
  readonly id: string;
  /** As the client named it. */
  readonly tool: string;
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
    seal: ({ id, tool, policies }, caller) =>
      seal.seal({ id, issuedAt: now(), caller: ownerOf(caller), data: { tool, policies } }),
    open(text, caller) {
      const { id, data } = seal.open(text, ownerOf(caller)) ?? {};
      if (id === undefined || typeof data?.tool !== 'string' || typeof data.policies !== 'string') return undefined;
      return { id, tool: data.tool, policies: data.policies };
    },
  };
}

/** A session of the same caller is not a task, and a task is not a session. */
function ownerOf(caller: string): string {
  return `task ${caller}`;
}
