// Reads a registry file in ToolHive's format: `servers`, `remote_servers` and `groups`.

import { isObject, jsonEquals } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import { extract, oversized } from '../entry.ts';
import {
  type Item,
  itemProblem,
  itemsAt,
  type JsonDocument,
  member,
  type ParsedDocument,
  type ReadResult,
  type Rejected,
  readEntries,
  type ServerGroup,
  wrongShape,
} from './document.ts';
import { checkContainer, checkGroup, checkRemote, checkServerJson } from './schema.ts';
import { documentOfContainer, documentOfRemote, type Section, serverName, VERSION } from './toolhive-mapping.ts';

/** A server at the top level, in groups, or in both places with the same content. */
interface ToolhiveServer {
  readonly item: Item;
  readonly section: Section;
  readonly groups: readonly ServerGroup[];
}

export function parseToolhive(document: JsonDocument): ParsedDocument {
  const problem = shapeProblem(document);
  if (problem !== undefined) return { ok: false, problem };
  const { groups, rejected: brokenGroups } = readGroups(document);
  const { entries, rejected } = readEntries(document, listServers(document, groups), readListed, entryName);
  return {
    ok: true,
    entries,
    rejected: [...brokenGroups, ...rejected],
    groups: groups.map(({ group }) => group),
  };
}

function shapeProblem(document: JsonDocument): Problem | undefined {
  const { root } = document;
  if (!isObject(root)) return wrongShape(document, '', 'a registry file is a JSON object with a member "servers"');
  if (Array.isArray(root.servers) || isObject(root.data)) {
    return wrongShape(document, '', 'this is a registry file of the format "upstream", not "toolhive"');
  }
  for (const section of ['servers', 'remote_servers']) {
    const value = root[section];
    if (value !== undefined && value !== null && !isObject(value)) {
      return wrongShape(document, `/${section}`, `"${section}" must be an object`);
    }
  }
  if (!isObject(root.servers) && !isObject(root.remote_servers)) {
    return wrongShape(document, '', 'a registry file has a member "servers" or "remote_servers"');
  }
  if (root.groups !== undefined && root.groups !== null && !Array.isArray(root.groups)) {
    return wrongShape(document, '/groups', '"groups" must be a list');
  }
  return undefined;
}

interface ReadGroup {
  readonly item: Item;
  readonly group: ServerGroup;
}

function readGroups(document: JsonDocument): { groups: ReadGroup[]; rejected: Rejected[] } {
  const groups: ReadGroup[] = [];
  const rejected: Rejected[] = [];
  for (const item of itemsAt(document, '/groups', member(document.root, 'groups'))) {
    const checked = checkGroup(item.value);
    if ('value' in checked) {
      groups.push({ item, group: { name: checked.value.name, description: checked.value.description ?? '' } });
    } else {
      rejected.push({ problem: itemProblem(document, item, 'registry-entry-invalid', checked.mistakes) });
    }
  }
  return { groups, rejected };
}

/** Returns the servers of all places. A server with the same key and content in several places is returned once. */
function listServers(document: JsonDocument, groups: readonly ReadGroup[]): ToolhiveServer[] {
  const listed = new Map<string, ToolhiveServer[]>();
  function add(section: Section, item: Item, group?: ServerGroup): void {
    const id = `${section}/${item.key}`;
    const same = listed.get(id) ?? [];
    const at = group === undefined ? -1 : same.findIndex((other) => jsonEquals(other.item.value, item.value));
    const known = same[at];
    const own = group === undefined ? [] : [group];
    listed.set(id, known === undefined ? [...same, { item, section, groups: own }] : same.with(at, joined(known, own)));
  }
  for (const section of ['servers', 'remote_servers'] as const) {
    for (const item of itemsAt(document, `/${section}`, member(document.root, section))) add(section, item);
    for (const { item: groupItem, group } of groups) {
      const pointer = `${groupItem.pointer}/${section}`;
      for (const item of itemsAt(document, pointer, member(groupItem.value, section))) add(section, item, group);
    }
  }
  return [...listed.values()].flat();
}

function joined(listed: ToolhiveServer, groups: readonly ServerGroup[]): ToolhiveServer {
  return { ...listed, groups: [...listed.groups, ...groups] };
}

function readListed({ item, section, groups }: ToolhiveServer): ReadResult {
  const checked = section === 'servers' ? checkContainer(item.value) : checkRemote(item.value);
  if ('mistakes' in checked) return checked;
  const server = checked.value;
  const document =
    'image' in server ? documentOfContainer(item.key, server, groups) : documentOfRemote(item.key, server, groups);
  const tooLarge = oversized(document, item.valueLength);
  if (tooLarge !== undefined) return { mistakes: [tooLarge] };
  const named = checkServerJson(document);
  if ('mistakes' in named) return named;
  return { entry: { name: named.value.name, version: VERSION, document, ...extract(document) } };
}

function entryName(item: Item): string {
  const own = member(item.value, 'name');
  return serverName(item.key, typeof own === 'string' && own !== '' ? own : undefined);
}
