// The ids of tasks in what a server sends, as the client gets them.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import { listElements, type Member, objectMembers } from '../../wire/json-walk.ts';
import type { RequestMessage, Span } from '../../wire/message.ts';
import { jsonString, type Patch, patchBytes } from '../../wire/patch.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';
import type { TaskIds } from './task-ids.ts';

/** The id for the client; the same id if it does not change, undefined if there is none. */
export type RenameTask = (id: string) => string | undefined;

/** How the answer to a request names tasks; undefined if it names none. `policies`: digest of those in force. */
export function taskNaming(
  ids: TaskIds,
  { method, target }: RequestMessage,
  caller: string,
  policies: string,
): RenameTask | undefined {
  if (target === undefined) return undefined;
  const { value } = target;
  if (method === 'tools/call') return (id) => ids.seal({ id, tool: value, policies }, caller);
  if (!method.startsWith('tasks/')) return undefined;
  const own = ids.open(value, caller)?.id;
  return (id) => (id === own ? value : id);
}

/** The message with the ids of the client. What it was is not read: an id that stands elsewhere is of no use to the client. */
export function renameTasks(bytes: Buffer, rename: RenameTask): Buffer {
  const scanned = bytes.includes(TASK_ID) ? scanMessage(bytes) : undefined;
  if (scanned?.ok !== true) return bytes;
  const { message } = scanned;
  const span = message.kind === 'response' ? message.result : message.params;
  const places = span === undefined ? [] : placesIn(bytes, span).sort((a, b) => a.start - b.start);
  const patches: Patch[] = [];
  for (const place of places) {
    const id = readValue(bytes, place);
    if (typeof id !== 'string') continue;
    const renamed = rename(id);
    if (renamed === undefined) {
      const response = message.kind === 'response' ? message.id : undefined;
      return errorBody(response, ERRORS.internalError, 'The MCP server made a task whose id is longer than 2 KiB.');
    }
    if (renamed !== id) patches.push({ span: place, bytes: jsonString(renamed) });
  }
  return patchBytes(bytes, patches);
}

const TASK_ID = '"taskId';
const RELATED = 'io.modelcontextprotocol/related-task';

/** 2025-11-25, Tasks, and SEP-2663: the places where a result, or the params of a notification, names tasks. */
function placesIn(bytes: Buffer, object: Span): Span[] {
  const members = objectMembers(bytes, object.start) ?? [];
  const inside = (name: string, from = members) => objectAt(bytes, from, name);
  const named = [members, inside('task'), inside(RELATED, inside('_meta'))].flatMap(
    (from) => memberAt(from, 'taskId') ?? [],
  );
  const list = memberAt(inside('notifications'), 'taskIds');
  return [...named, ...(list === undefined ? [] : (listElements(bytes, list.start) ?? []))];
}

function objectAt(bytes: Buffer, members: readonly Member[], name: string): readonly Member[] {
  const value = memberAt(members, name);
  return (value && objectMembers(bytes, value.start)) ?? [];
}

function memberAt(members: readonly Member[], name: string): Span | undefined {
  return members.find(({ key }) => key === name)?.value;
}

/** The answer to `initialize` without what is not offered: a list that does not say which caller made a task. */
export function withoutTaskList(bytes: Buffer): Buffer {
  const scanned = scanMessage(bytes);
  const result = scanned.ok && scanned.message.kind === 'response' ? scanned.message.result : undefined;
  const members = result === undefined ? [] : (objectMembers(bytes, result.start) ?? []);
  const tasks = memberAt(objectAt(bytes, members, 'capabilities'), 'tasks');
  const offered = tasks && objectMembers(bytes, tasks.start);
  if (tasks === undefined || offered === undefined) return bytes;
  const kept = offered
    .filter(({ key }) => key !== 'list')
    .map(({ start, value }) => bytes.toString('utf8', start, value.end));
  return patchBytes(bytes, [{ span: tasks, bytes: Buffer.from(`{${kept.join()}}`) }]);
}
