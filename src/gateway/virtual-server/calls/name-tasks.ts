// Adds the name of the member to ids of tasks, so that clients send them back with the name.

import type { Answer } from '../../backends/backend.ts';
import { heldShortly, isErrorStatus, rewriteAnswer, WATCH_NOTHING } from '../../backends/rewrite-answer.ts';
import { renameResultTasks } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { splitMemberId } from './member-ids.ts';

/** Returns the id for clients, split by a space, which names of members do not contain. */
export function taskOfMember(member: string, id: string): string {
  return `${member} ${id}`;
}

/** Returns the member of a task, and the task's id at the member. Returns undefined for other ids. */
export function readTaskOfMember(id: string): { readonly member: string; readonly own: string } | undefined {
  const at = splitMemberId(id);
  return at === undefined ? undefined : { member: at.member, own: at.id };
}

/**
 * Adds the member to task ids. The result of a task also contains its id, so it is read as a whole. A result larger
 * than `messageBytes` is refused.
 */
export function nameTasks(answer: Answer, member: string, { method }: RequestMessage, messageBytes: number): Answer {
  const size = method === 'tools/call' ? heldShortly(messageBytes, () => WATCH_NOTHING) : { messageBytes };
  return rewriteAnswer(answer, {
    ...size,
    rewrite: (bytes) => renameResultTasks(bytes, (id) => taskOfMember(member, id)),
    kept: isErrorStatus,
  });
}
