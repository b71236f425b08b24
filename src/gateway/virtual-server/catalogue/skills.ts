// Finds the member whose skill contains a resource (SEP-2640). A skill is a folder of resources, listed or not.

import { isAppUri } from './apps.ts';
import type { OfferingMember } from './rules.ts';

/** Members by the folders of their skills. The member whose name sorts first gets a shared folder. */
export type SkillFolders = ReadonlyMap<string, string>;

/** Longer folders are ignored: a URI may contain a megabyte of slashes. */
const FOLDER_MAX = 1024;

export function skillFolders(offering: readonly OfferingMember[]): SkillFolders {
  const members = new Map<string, string>();
  for (const { name, lists } of offering.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const { key } of lists.lists.skills) {
      const folder = isAppUri(key) ? undefined : folderOf(key);
      if (folder !== undefined && folder.length <= FOLDER_MAX && !members.has(folder)) members.set(folder, name);
    }
  }
  return members;
}

/** Returns the member whose skill contains a resource: the skill's own URI, a file or a folder in the skill. */
export function skillMember(folders: SkillFolders, uri: string): string | undefined {
  if (folders.size === 0) return undefined;
  const beginning = uri.slice(0, FOLDER_MAX + 1);
  let folder = beginning.length > FOLDER_MAX ? beginning.slice(0, beginning.lastIndexOf('/')) : beginning;
  for (; folder !== ''; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const member = folders.get(folder);
    if (member !== undefined) return member;
  }
  return undefined;
}

/**
 * Removes the last path segment. Returns undefined if neither authority nor path remains, since such a folder would
 * contain every URI.
 */
function folderOf(uri: string): string | undefined {
  const root = uri.indexOf('://');
  const slash = uri.lastIndexOf('/');
  return root < 0 || slash <= root + 3 ? undefined : uri.slice(0, slash);
}
