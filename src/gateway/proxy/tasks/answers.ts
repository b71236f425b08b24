// Rewrites the ids of tasks in the answers of a server to those that the client knows.

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

/** Names the tasks of an answer as the client does; undefined if the answer names none. */
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

/** Tasks that are remembered; the oldest ones make room. */
const NAMED_MAX = 10_000;

/**
 * The ids of clients by the ids of the server, for messages that a server with sessions sends on its own. They are those that this
 * replica has read: a client that asks for its tasks learns the rest (2025-11-25, Tasks: nobody may rely on notifications).
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
