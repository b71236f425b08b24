// Names the supported extensions of MCP, and reads the settings that a client declares for an extension.

import { isObject, type Json } from '#std/json.ts';

/** Tasks, the extension of SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/**
 * Skills, the extension of SEP-2640. A skill is a folder of resources, and the URI of one resource identifies the
 * skill.
 */
export const SKILLS = 'io.modelcontextprotocol/skills';
/** MCP Apps, the extension of SEP-1865. A tool names a resource that the client shows as a user interface. */
export const APPS = 'io.modelcontextprotocol/ui';

/** Returns the declared settings of an extension. undefined if the capabilities do not declare the extension. */
export function declaredExtension(capabilities: unknown, extension: string): Json | undefined {
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  const declared = isObject(extensions) ? extensions[extension] : undefined;
  return isObject(declared) ? declared : undefined;
}
