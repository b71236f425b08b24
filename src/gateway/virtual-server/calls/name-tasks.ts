// The ids of tasks of members, as clients get them: each says which member has the task.

import type { Answer } from '../../backends/backend.ts';
import { heldShortly, isErrorStatus, rewriteAnswer, WATCH_NOTHING } from '../../backends/rewrite-answer.ts';
import { renameResultTasks } from '../../wire/extensions/task-ids.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { splitMemberId } from './member-ids.ts';

/** Names of members have no spaces. */
export function taskOfMember(member: string, id: string): string {
  return `${member} ${id}`;
}

/** The member of a task, and the id that it has there; undefined for other ids. */
export function readTaskOfMember(id: string): { readonly member: string; readonly own: string } | undefined {
  const at = splitMemberId(id);
  return at === undefined ? undefined : { member: at.member, own: at.id };
}

/** The result of a task holds its id as well, so it is read as a whole: a larger one than `messageBytes` is refused. */
export function nameTasks(answer: Answer, member: string, { method }: RequestMessage, messageBytes: number): Answer {
  const size = method === 'tools/call' ? heldShortly(messageBytes, () => WATCH_NOTHING) : { messageBytes };
  return rewriteAnswer(answer, {
    ...size,
    rewrite: (bytes) => renameResultTasks(bytes, (id) => taskOfMember(member, id)),
    kept: isErrorStatus,
  });
}
