// Replaces the server's task ids in answers with the client's task ids.

import { setBounded } from '#std/bounded.ts';
import { passesInOnePiece, type RewriteMessage } from '../../backends/rewrite-answer.ts';
import {
  namesTasks,
  type RenameTask,
  renameResultTasks,
  renameSentTasks,
  withoutTaskList,
} from '../../wire/extensions/task-ids.ts';
import type { Message } from '../../wire/message.ts';
import type { RuleParts } from '../admit.ts';
import type { Caller } from '../caller.ts';
import { taskNaming } from './task-ids.ts';

/** Returns a function that replaces task ids in the answer, or undefined if the answer contains no tasks. */
export function taskRewriting(
  { tasks, tools, policies }: RuleParts,
  named: NamedTasks,
  message: Message | undefined,
  caller: Caller,
): RewriteMessage | undefined {
  if (tasks === undefined) return undefined;
  const rewriteSent: RewriteMessage = (bytes) => renameSentTasks(bytes, (id) => named.find(caller, id));
  if (message === undefined) return rewriteSent;
  if (message.kind !== 'request') return undefined;
  if (message.method === 'initialize') return withoutTaskList;
  const name = message.target?.value ?? '';
  const call = { own: tools?.ownName(name) ?? name, policies: policies?.digest ?? '' };
  const rename = taskNaming(tasks, message, caller.key, call);
  if (rename === undefined) return undefined;
  const rewriteNamed: RenameTask = (id) => named.add(caller, id, rename(id));
  return Object.assign((bytes: Buffer) => rewriteSent(renameResultTasks(bytes, rewriteNamed)), {
    passes: passesInOnePiece(namesTasks),
  });
}

type NamedTasks = ReturnType<typeof rememberTasks>;

/** Maximum number of remembered task ids. The oldest ids are dropped. */
const NAMED_MAX = 10_000;

/**
 * Remembers the client's task ids, by the server's ids, for messages that the server sends without a request. A replica
 * knows only ids in answers that it has sent. Clients must request the state of other tasks: notifications are not
 * guaranteed (MCP 2025-11-25, Tasks).
 */
export function rememberTasks() {
  const named = new Map<string, string>();
  const keyOf = ({ key }: Caller, id: string) => JSON.stringify([key, id]);
  return {
    find: (caller: Caller, id: string) => named.get(keyOf(caller, id)),
    add(caller: Caller, id: string, given: string | undefined): string | undefined {
      if (given !== undefined && given !== id) setBounded(named, keyOf(caller, id), given, NAMED_MAX);
      return given;
    },
  };
}
