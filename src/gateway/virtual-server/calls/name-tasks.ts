// Adds the member's name to task ids, so that clients send the name back in later requests.

import type { Answer } from '../../backends/backend.ts';
import { heldShortly, isErrorStatus, rewriteAnswer, WATCH_NOTHING } from '../../backends/rewrite-answer.ts';
import { renameResultTasks } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { splitMemberId } from './member-ids.ts';

/** Returns the task id for clients: member and id with a space between. Names of members contain no spaces. */
export function taskOfMember(member: string, id: string): string {
  return `${member} ${id}`;
}

/** Returns the member and its own task id. Returns undefined for other texts. */
export function readTaskOfMember(id: string): { readonly member: string; readonly own: string } | undefined {
  const at = splitMemberId(id);
  return at === undefined ? undefined : { member: at.member, own: at.id };
}

/**
 * Adds the member's name to task ids. Results of task methods are buffered completely, because they also contain the
 * task's id. A result larger than `messageBytes` is refused.
 */
export function nameTasks(answer: Answer, member: string, { method }: RequestMessage, messageBytes: number): Answer {
  const size = method === 'tools/call' ? heldShortly(messageBytes, () => WATCH_NOTHING) : { messageBytes };
  return rewriteAnswer(answer, {
    ...size,
    rewrite: (bytes) => renameResultTasks(bytes, (id) => taskOfMember(member, id)),
    kept: isErrorStatus,
  });
}
