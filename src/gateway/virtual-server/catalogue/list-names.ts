// Defines method, change notification and capability of each list of an MCP server. The name of a list is the key of
// the items in its result.

import { isObject, type JsonObject } from '#std/json.ts';
import { declaredExtension, SKILLS } from '../../wire/extensions/identifiers.ts';
import type { ListItem } from '../../wire/lists.ts';

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'skills';

interface ListFacts {
  readonly method: string;
  readonly changed: string;
  /** Returns whether a server with these capabilities has the list. */
  readonly isOffered: (capabilities: JsonObject) => boolean;
}

const RESOURCES_CHANGED = 'notifications/resources/list_changed';

export const LISTS: Readonly<Record<ListName, ListFacts>> = {
  tools: {
    method: 'tools/list',
    changed: 'notifications/tools/list_changed',
    isOffered: ({ tools }) => isObject(tools),
  },
  prompts: {
    method: 'prompts/list',
    changed: 'notifications/prompts/list_changed',
    isOffered: ({ prompts }) => isObject(prompts),
  },
  resources: {
    method: 'resources/list',
    changed: RESOURCES_CHANGED,
    isOffered: ({ resources }) => isObject(resources),
  },
  resourceTemplates: {
    method: 'resources/templates/list',
    changed: RESOURCES_CHANGED,
    isOffered: ({ resources }) => isObject(resources),
  },
  // Skills are resources (SEP-2640).
  skills: {
    method: 'skills/list',
    changed: RESOURCES_CHANGED,
    isOffered: (capabilities) => declaredExtension(capabilities, SKILLS) !== undefined,
  },
};

export const LIST_NAMES: readonly ListName[] = ['tools', 'prompts', 'resources', 'resourceTemplates', 'skills'];

const BY_METHOD: ReadonlyMap<string, ListName> = new Map(LIST_NAMES.map((name) => [LISTS[name].method, name]));

export function listNameOf(method: string): ListName | undefined {
  return BY_METHOD.get(method);
}

/** Returns the name or URI that identifies an item in its list. Returns undefined if the item has no name or URI. */
export function itemKey(name: ListName, item: ListItem): string | undefined {
  switch (name) {
    case 'tools':
    case 'prompts':
      return item.name?.value;
    case 'resources':
    case 'skills':
      return item.uri?.value;
    case 'resourceTemplates':
      return item.uriTemplate?.value;
  }
}
