// Names the supported extensions of MCP, and reads how a client declares one.

import { isObject, type Json } from '#std/json.ts';

/** Extension of SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** Extension of SEP-2640: a skill is a folder of resources, and the URI of one resource names it. */
export const SKILLS = 'io.modelcontextprotocol/skills';
/** Extension of SEP-1865, MCP Apps: a tool names a resource that a client shows as a user interface. */
export const APPS = 'io.modelcontextprotocol/ui';

/** Returns the settings under which capabilities declare an extension, undefined if they do not declare it. */
export function declaredExtension(capabilities: unknown, extension: string): Json | undefined {
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  const declared = isObject(extensions) ? extensions[extension] : undefined;
  return isObject(declared) ? declared : undefined;
}
