// What a virtual server can do, out of what its members can.

import { isObject, type JsonObject } from '#std/json.ts';
import { TASKS } from '../../wire/extensions/identifiers.ts';

/**
 * `tools` always: workflows and members that join later have some. Lists of all kinds may change while members come and go,
 * and the server itself reports it. `extensions` are for clients of 2026-07-28 alone: those that a member has and that can be carried.
 */
export function offeredCapabilities(members: readonly JsonObject[]): JsonObject {
  const having = (feature: string) => members.filter((each) => isObject(each[feature]));
  const resources = having('resources');
  const subscribe = resources.some(({ resources: each }) => isObject(each) && each.subscribe === true);
  return {
    tools: { listChanged: true },
    ...(having('prompts').length > 0 ? { prompts: { listChanged: true } } : {}),
    ...(resources.length > 0 ? { resources: { listChanged: true, ...(subscribe ? { subscribe } : {}) } } : {}),
    ...(having('completions').length > 0 ? { completions: {} } : {}),
    ...(having('logging').length > 0 ? { logging: {} } : {}),
    ...(members.some(offersTasks) ? { extensions: { [TASKS]: {} } } : {}),
  };
}

function offersTasks({ extensions }: JsonObject): boolean {
  return isObject(extensions) && isObject(extensions[TASKS]);
}
