// Finds the member whose skill a resource belongs to (SEP-2640): a skill is a folder of listed or unlisted resources.

import { isAppUri } from './apps.ts';
import type { OfferingMember } from './rules.ts';

/** Members by the folders of their skills. If folders are equal, the folder belongs to the first member by name. */
export type SkillFolders = ReadonlyMap<string, string>;

/** Maximum length of a folder. Members and clients may send a URI with a megabyte of slashes. */
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

/** Returns the member whose skill a resource belongs to: the skill itself, a file of it, or a folder in it. */
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
 * Removes the last segment; returns undefined if neither authority nor path would remain, since such a folder would
 * contain all URIs.
 */
function folderOf(uri: string): string | undefined {
  const root = uri.indexOf('://');
  const slash = uri.lastIndexOf('/');
  return root < 0 || slash <= root + 3 ? undefined : uri.slice(0, slash);
}
