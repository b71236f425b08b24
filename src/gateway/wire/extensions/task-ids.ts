// Replaces the server's task ids in messages of the server with the task ids of the client.

import { ERRORS, errorBody } from '../errors.ts';
import { listElements, type MemberSpan, objectMembers } from '../json-walk.ts';
import type { Message, Span } from '../message.ts';
import { jsonString, type Patch, patchBytes } from '../patch.ts';
import { readValue, scanMessage } from '../scan.ts';

/**
 * Returns the client's id for a server's id, which may be the same id. undefined if the client has no id for the task.
 */
export type RenameTask = (id: string) => string | undefined;

const TASK_ID = Buffer.from('"taskId');
const RELATED = 'io.modelcontextprotocol/related-task';
const STATUS = 'notifications/tasks/status';

/** Returns whether a message may contain task ids that must be replaced. */
export function namesTasks(bytes: Buffer): boolean {
  return bytes.includes(TASK_ID);
}

/**
 * Replaces the task ids of a response (MCP 2025-11-25, Tasks, and SEP-2663). Task ids in other places stay unchanged,
 * so the client cannot use them.
 */
export function renameResultTasks(bytes: Buffer, rename: RenameTask): Buffer {
  const message = namesTasks(bytes) ? messageIn(bytes) : undefined;
  if (message?.kind !== 'response' || message.result === undefined) return bytes;
  const members = objectMembers(bytes, message.result.start) ?? [];
  const inside = (name: string, from = members) => objectAt(bytes, from, name);
  const places = [members, inside('task'), inside(RELATED, inside('_meta'))].flatMap(
    (from) => memberAt(from, 'taskId') ?? [],
  );
  return renamed(bytes, places, rename) ?? errorBody(message.id, ERRORS.internalError, ID_TOO_LONG);
}

/**
 * Replaces the task ids of a request or notification of a server with sessions (MCP 2025-11-25, Tasks). Returns no
 * bytes for a status notification about a task for which the client has no id.
 */
export function renameSentTasks(bytes: Buffer, rename: RenameTask): Buffer {
  const message = namesTasks(bytes) ? messageIn(bytes) : undefined;
  if (message === undefined || message.kind === 'response' || message.params === undefined) return bytes;
  const members = objectMembers(bytes, message.params.start) ?? [];
  if (message.method === STATUS) {
    const id = memberAt(members, 'taskId');
    return (id && renamed(bytes, [id], rename)) ?? LEFT_OUT;
  }
  const related = memberAt(objectAt(bytes, objectAt(bytes, members, '_meta'), RELATED), 'taskId');
  return (related && renamed(bytes, [related], rename)) ?? bytes;
}

const ID_TOO_LONG = 'The MCP server created a task whose id is too long.';
const LEFT_OUT = Buffer.alloc(0);

/**
 * Replaces the task ids of a message on the stream of a subscription to tasks (SEP-2663). `tasks` maps ids of the
 * server to ids of the client. Returns no bytes for a notification about a task that is not in `tasks`.
 */
export function renameNotifiedTasks(bytes: Buffer, tasks: ReadonlyMap<string, string>): Buffer {
  const message = messageIn(bytes);
  if (message?.kind !== 'notification' || message.params === undefined) return bytes;
  const members = objectMembers(bytes, message.params.start) ?? [];
  if (message.method === 'notifications/tasks') {
    const id = memberAt(members, 'taskId');
    return (id && renamed(bytes, [id], (each) => tasks.get(each))) ?? LEFT_OUT;
  }
  if (message.method !== 'notifications/subscriptions/acknowledged') return bytes;
  const list = memberAt(objectAt(bytes, members, 'notifications'), 'taskIds');
  if (list === undefined) return bytes;
  // All tasks in `tasks` were named by the client, so the client may see any of their ids.
  const ids = (listElements(bytes, list.start) ?? []).flatMap(
    (each) => tasks.get(String(readValue(bytes, each))) ?? [],
  );
  return patchBytes(bytes, [{ span: list, bytes: Buffer.from(JSON.stringify(ids)) }]);
}

/**
 * Removes `tasks.list` from the answer to `initialize`, because a list of tasks does not say which caller created a
 * task.
 */
export function withoutTaskList(bytes: Buffer): Buffer {
  const message = messageIn(bytes);
  const result = message?.kind === 'response' ? message.result : undefined;
  const members = result === undefined ? [] : (objectMembers(bytes, result.start) ?? []);
  const tasks = memberAt(objectAt(bytes, members, 'capabilities'), 'tasks');
  const offered = tasks && objectMembers(bytes, tasks.start);
  if (tasks === undefined || offered === undefined) return bytes;
  const kept = offered
    .filter(({ key }) => key !== 'list')
    .map(({ start, value }) => bytes.toString('utf8', start, value.end));
  return patchBytes(bytes, [{ span: tasks, bytes: Buffer.from(`{${kept.join()}}`) }]);
}

/** Replaces the ids. Returns undefined if the client has no id for one of the tasks. */
function renamed(bytes: Buffer, places: readonly Span[], rename: RenameTask): Buffer | undefined {
  const patches: Patch[] = [];
  for (const span of places.toSorted((a, b) => a.start - b.start)) {
    const id = readValue(bytes, span);
    if (typeof id !== 'string') continue;
    const other = rename(id);
    if (other === undefined) return undefined;
    if (other !== id) patches.push({ span, bytes: jsonString(other) });
  }
  return patchBytes(bytes, patches);
}

function messageIn(bytes: Buffer): Message | undefined {
  const scanned = scanMessage(bytes);
  return scanned.ok ? scanned.message : undefined;
}

function objectAt(bytes: Buffer, members: readonly MemberSpan[], name: string): readonly MemberSpan[] {
  const value = memberAt(members, name);
  return (value && objectMembers(bytes, value.start)) ?? [];
}

function memberAt(members: readonly MemberSpan[], name: string): Span | undefined {
  return members.find(({ key }) => key === name)?.value;
}
