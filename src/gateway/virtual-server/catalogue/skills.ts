// Skills of members (SEP-2640): folders of resources, of which all are the member's that has the skill. Pure.

import type { OfferingMember } from './rules.ts';

/** Members by the folders of their skills; of equal ones the first member by name has it. */
export type SkillFolders = ReadonlyMap<string, string>;

export function skillFolders(members: readonly OfferingMember[]): SkillFolders {
  const folders = new Map<string, string>();
  for (const { name, lists } of members.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const { key } of lists.lists.skills) {
      const folder = folderOf(key);
      if (folder !== undefined && !folders.has(folder)) folders.set(folder, name);
    }
  }
  return folders;
}

/** Folders within folders that are looked for: a client may send a URI of a megabyte of slashes. */
const DEPTH_MAX = 32;

/** The member whose skill a resource is part of: the skill itself, a file of it, or a folder in it. */
export function skillMember(folders: SkillFolders, uri: string): string | undefined {
  if (folders.size === 0) return undefined;
  const segments = uri.split('/', DEPTH_MAX);
  for (let count = segments.length; count > 0; count -= 1) {
    const member = folders.get(segments.slice(0, count).join('/'));
    if (member !== undefined) return member;
  }
  return undefined;
}

/** Without the last segment; undefined for a URI whose path has no segment left. */
function folderOf(uri: string): string | undefined {
  const slash = uri.lastIndexOf('/');
  return slash <= uri.indexOf('://') + 2 ? undefined : uri.slice(0, slash);
}
