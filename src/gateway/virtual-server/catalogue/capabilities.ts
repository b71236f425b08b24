// What a virtual server can do, out of what its members can.

import { isObject, type JsonObject } from '#std/json.ts';
import { APPS, declaredExtension, TASKS } from '../../wire/extensions/identifiers.ts';

/**
 * `tools` always: workflows and members that join later have some. Lists of all kinds may change while members come and go,
 * and the server itself reports it. `extensions` are those that a member has and that can be carried. `apps`: a tool has a user
 * interface; servers need not declare the extension to have some.
 */
export function offeredCapabilities(members: readonly JsonObject[], apps: boolean): JsonObject {
  const having = (feature: string) => members.filter((each) => isObject(each[feature]));
  const resources = having('resources');
  const subscribe = resources.some(({ resources: each }) => isObject(each) && each.subscribe === true);
  return {
    tools: { listChanged: true },
    ...(having('prompts').length > 0 ? { prompts: { listChanged: true } } : {}),
    ...(resources.length > 0 ? { resources: { listChanged: true, ...(subscribe ? { subscribe } : {}) } } : {}),
    ...(having('completions').length > 0 ? { completions: {} } : {}),
    ...(having('logging').length > 0 ? { logging: {} } : {}),
    ...extensionsOf([...offering(members, TASKS), ...(apps ? [APPS] : offering(members, APPS))]),
  };
}

function offering(members: readonly JsonObject[], extension: string): readonly string[] {
  return members.some((each) => declaredExtension(each, extension) !== undefined) ? [extension] : [];
}

function extensionsOf(names: readonly string[]): JsonObject {
  return names.length === 0 ? {} : { extensions: Object.fromEntries(names.map((name) => [name, {}])) };
}

/** For clients with sessions: tasks of 2026-07-28 are not theirs. */
export function sessionCapabilities({ extensions, ...capabilities }: JsonObject): JsonObject {
  return { ...capabilities, ...(isObject(extensions) && APPS in extensions ? extensionsOf([APPS]) : {}) };
}
