// Refuses state folders that other people control. A cloned repository may contain a folder or link `.skep`: files that
// skep writes there would overwrite other files or be readable for other users.

import fs, { existsSync, lstatSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { gitPackage } from '#adapters/git/package.ts';
import { Failure } from '#std/failure.ts';

export interface StateFolderRules {
  /** If true, the folder must belong to the user. Not required in a pod, where a volume belongs to root. */
  readonly ownedByUser: boolean;
}

/** Accepts a folder that does not exist yet. Throws Failure `state-folder-unsafe`. */
export async function checkStateFolder(dir: string, { ownedByUser }: StateFolderRules): Promise<void> {
  const path = resolve(dir);
  const link = componentsOf(path).find((each) => statOf(each)?.isSymbolicLink());
  if (link !== undefined) throw unsafe(dir, `${link} is a link`);
  const found = statOf(path);
  if (found === undefined) return;
  if (!found.isDirectory()) throw unsafe(dir, `${path} is not a folder`);
  const user = process.getuid?.();
  if (ownedByUser && user !== undefined && found.uid !== user)
    throw unsafe(dir, `the folder belongs to the user ${found.uid}, not ${user}`);
  const tracked = await trackedFile(path);
  if (tracked !== undefined)
    throw unsafe(
      dir,
      `Git tracks ${tracked} in it, so its commits decide about the state that skep reads and writes there`,
    );
}

/** Returns undefined if the path does not exist. Throws Failure `state-folder-unsafe` if the path cannot be read. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOTDIR') return undefined;
    throw unsafe(path, `its owner and type cannot be read: ${String(code ?? error)}`);
  }
}

/**
 * Returns the path and its parent folders below the current directory. Links outside of the current directory are
 * trusted.
 */
function componentsOf(path: string): readonly string[] {
  const way = relative(process.cwd(), path);
  const isElsewhere = way === '' || way.startsWith('..') || isAbsolute(way);
  if (isElsewhere || process.cwd() === parse(path).root) return [path];
  const names = way.split(sep);
  return names.map((_name, index) => join(process.cwd(), ...names.slice(0, index + 1)));
}

/** Returns a file of the folder that Git tracks, in the folder's own work tree or in the work tree around it. */
async function trackedFile(path: string): Promise<string | undefined> {
  const folder = realpathSync(path);
  const roots = new Set([workTreeAround(folder), workTreeAround(dirname(folder))]);
  for (const root of roots) {
    const tracked = root === undefined ? undefined : await trackedIn(root, folder, path);
    if (tracked !== undefined) return tracked;
  }
  return undefined;
}

/** Returns a tracked file inside the folder. If the folder is a submodule, returns the folder itself. */
async function trackedIn(root: string, folder: string, path: string): Promise<string | undefined> {
  const place = foldedName(relative(root, folder).split(sep).join('/'));
  try {
    const files = await gitPackage().listFiles({ fs, dir: root, gitdir: gitDirectory(root) });
    return files.find((file) => place === '' || `${foldedName(file)}/`.startsWith(`${place}/`));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unsafe(path, `whether Git tracks files in it cannot be read from ${root}: ${reason}`);
  }
}

/** Returns the name in the form in which many file systems compare names: without regard to case and Unicode form. */
function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function workTreeAround(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : workTreeAround(above);
}

/**
 * Returns the Git folder of a work tree. In a linked work tree, `.git` is a file that names the folder
 * (gitrepository-layout(5)).
 */
function gitDirectory(root: string): string {
  const path = join(root, '.git');
  if (lstatSync(path).isDirectory()) return path;
  const [, named = ''] = /^gitdir: (.+)/.exec(readFileSync(path, 'utf8')) ?? [];
  return resolve(root, named);
}

function unsafe(dir: string, why: string): Failure {
  const remedy = 'Delete it, or name another folder (stateDir of skep.yaml; --data for skep dev)';
  return new Failure('state-folder-unsafe', `${dir} cannot be used for state: ${why}. ${remedy}.`, { data: { dir } });
}
