// Admits requests about tasks: a client may name only its own tasks, and the current rules must permit the tools that
// created the tasks.

import { readNotifications } from '../../gate/subscription.ts';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import type { Message, MessageTarget, RequestMessage, Span } from '../../wire/message.ts';
import { methodFacts } from '../../wire/methods.ts';
import { jsonString, type Patch, patchBytes } from '../../wire/patch.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';
import type { Caller } from '../caller.ts';
import { denialRefusal, type Refusal } from '../faults.ts';
import type { MadeTask, TaskIds } from './task-ids.ts';

export interface TaskRules {
  readonly ids: TaskIds;
  /** Returns why the caller may no longer use the task, or undefined if the caller may use it. */
  readonly refusalOf: (task: MadeTask) => RefusedTask | undefined;
}

export interface RefusedTask {
  readonly refusal: Refusal;
  readonly detail?: string;
}

/** A request about tasks, with the server's task ids. */
export interface TaskRequest {
  readonly message: Message;
  readonly body: Buffer;
  /** undefined for a subscription. */
  readonly task?: MadeTask;
  /** The client's task ids, by the server's ids. */
  readonly named: ReadonlyMap<string, string>;
  readonly refusal?: undefined;
}

/** Admits a request. Returns undefined for a message that cannot name tasks. */
export function admitTasks(
  rules: TaskRules,
  message: Message,
  body: Buffer,
  caller: Caller,
): TaskRequest | RefusedTask | undefined {
  if (message.kind !== 'request') return undefined;
  const { method, target } = message;
  if (method === 'tasks/list') return { refusal: LIST_REFUSED };
  if (method === 'subscriptions/listen') return admitSubscription(rules, message, body, caller);
  const facts = methodFacts(method);
  if (facts?.feature !== 'task' || facts.target !== 'taskId' || target === undefined) return undefined;
  const opened = openTask(rules, target, caller);
  if ('refusal' in opened) return opened;
  const { id } = opened.task;
  return {
    ...patched(body, message, [patchOf(target.span, id)]),
    task: opened.task,
    named: new Map([[id, target.value]]),
  };
}

function openTask(
  rules: TaskRules,
  { value }: Pick<MessageTarget, 'value'>,
  { key }: Caller,
): { readonly task: MadeTask } | RefusedTask {
  const task = rules.ids.open(value, key);
  if (task === undefined) return { refusal: TASK_UNKNOWN };
  return rules.refusalOf(task) ?? { task };
}

/** Admits `subscriptions/listen` (MCP 2026-07-28), whose `notifications.taskIds` the extension for tasks defines. */
function admitSubscription(
  rules: TaskRules,
  message: RequestMessage,
  body: Buffer,
  caller: Caller,
): TaskRequest | RefusedTask {
  const ids = message.params === undefined ? [] : taskIdSpans(body, message.params);
  if (ids === undefined) return { refusal: IDS_UNREADABLE };
  const named = new Map<string, string>();
  const patches: Patch[] = [];
  for (const span of ids) {
    const value = readValue(body, span);
    if (typeof value !== 'string') return { refusal: IDS_UNREADABLE };
    const opened = openTask(rules, { value }, caller);
    if ('refusal' in opened) return opened;
    named.set(opened.task.id, value);
    patches.push(patchOf(span, opened.task.id));
  }
  return { ...patched(body, message, patches), named };
}

/**
 * Returns the positions of the ids. Returns undefined if `taskIds` is not a list, or if repeated keys make the message
 * ambiguous.
 */
function taskIdSpans(body: Buffer, params: Span): readonly Span[] | undefined {
  const notifications = readNotifications(body, params);
  if (notifications === 'absent') return [];
  const ids = notifications && objectMembers(body, notifications.start)?.find(({ key }) => key === 'taskIds');
  if (notifications === undefined || ids === undefined) return notifications && [];
  return listElements(body, ids.value.start);
}

function patchOf(span: Span, id: string): Patch {
  return { span, bytes: jsonString(id) };
}

function patched(body: Buffer, message: Message, patches: readonly Patch[]): Pick<TaskRequest, 'message' | 'body'> {
  const bytes = patchBytes(body, patches);
  const again = scanMessage(bytes);
  return { message: again.ok ? again.message : message, body: bytes };
}

export const TASK_UNKNOWN: Refusal = denialRefusal({
  httpStatus: 200,
  rpcCode: -32602,
  code: 'task-unknown',
  message: 'Task not found: it was created by another caller, or no longer exists.',
});

const IDS_UNREADABLE: Refusal = denialRefusal({
  httpStatus: 400,
  rpcCode: -32602,
  code: 'task-unknown',
  message: 'Invalid params: notifications.taskIds must be a list of texts, without repeated keys.',
});

const LIST_REFUSED: Refusal = denialRefusal({
  httpStatus: 200,
  rpcCode: -32601,
  code: 'task-list-refused',
  message: 'tasks/list is not offered: a list of the MCP server does not say which caller created a task.',
});
