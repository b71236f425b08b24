// Combines the capabilities of members into the capabilities of a virtual server.

import { isObject, type JsonObject } from '#std/json.ts';
import { APPS, declaredExtension, SKILLS, TASKS } from '../../wire/extensions/identifiers.ts';

interface FoundInTools {
  readonly apps: boolean;
  readonly sessionTasks: boolean;
}

/**
 * Returns the combined capabilities. `tools` is always included, for workflows and for members that join later.
 * `listChanged` is always true, since members change. `apps` is true if a tool has a user interface, which servers need
 * not declare. `sessionTasks` is true if a tool can create tasks of MCP 2025-11-25.
 */
export function offeredCapabilities(members: readonly JsonObject[], { apps, sessionTasks }: FoundInTools): JsonObject {
  const having = (feature: string) => members.filter((each) => isObject(each[feature]));
  const resources = having('resources');
  const subscribe = resources.some(({ resources: each }) => isObject(each) && each.subscribe === true);
  return {
    tools: { listChanged: true },
    ...(having('prompts').length > 0 ? { prompts: { listChanged: true } } : {}),
    ...(resources.length > 0 ? { resources: { listChanged: true, ...(subscribe ? { subscribe } : {}) } } : {}),
    ...(having('completions').length > 0 ? { completions: {} } : {}),
    ...(having('logging').length > 0 ? { logging: {} } : {}),
    ...(sessionTasks ? { tasks: { requests: { tools: { call: {} } } } } : {}),
    ...withExtensions({
      ...offered(members, TASKS),
      ...(apps ? { [APPS]: {} } : offered(members, APPS)),
      ...skills(members),
    }),
  };
}

function offered(members: readonly JsonObject[], extension: string): JsonObject {
  return members.some((each) => declaredExtension(each, extension) !== undefined) ? { [extension]: {} } : {};
}

/** Declares `directoryRead` only if every member with skills declares it. */
function skills(members: readonly JsonObject[]): JsonObject {
  const settings = members.flatMap((each) => declaredExtension(each, SKILLS) ?? []);
  const directoryRead = settings.every((each) => isObject(each) && each.directoryRead === true);
  return settings.length === 0 ? {} : { [SKILLS]: directoryRead ? { directoryRead } : {} };
}

function withExtensions(extensions: JsonObject): JsonObject {
  return Object.keys(extensions).length === 0 ? {} : { extensions };
}

/** Returns the capabilities for clients of MCP 2026-07-28, which has no tasks in sessions. */
export function statelessCapabilities({ tasks: _tasks, ...capabilities }: JsonObject): JsonObject {
  return capabilities;
}

/** Returns the capabilities for clients with sessions, which cannot use the tasks extension of MCP 2026-07-28. */
export function sessionCapabilities({ extensions, ...capabilities }: JsonObject): JsonObject {
  if (!isObject(extensions)) return capabilities;
  const { [TASKS]: _tasks, ...others } = extensions;
  return { ...capabilities, ...withExtensions(others) };
}
