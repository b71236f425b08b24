// Follows all references of a kustomization before kustomize does. Refuses paths outside of the repository, remote
// sources, links, cycles, and kustomizations that are too large.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Problem, SourcePlace } from '#std/problem.ts';
import { decodeFile, type FileText } from '#std/utf8.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { LoadCache } from '../source-file.ts';
import { type Reference, readFields } from './fields.ts';
import { folderOf, pathIn, resolvePath, type Tree } from './tree.ts';

/** Names of files in which kustomize looks for a kustomization. */
const FILE_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

export function isKustomizationFile(path: string): boolean {
  return FILE_NAMES.some((name) => path === name || path.endsWith(`/${name}`));
}

export interface Kustomization {
  readonly file: string;
  readonly text: string;
  readonly value: JsonObject;
}

export interface KustomizationWalk {
  readonly folder: string;
  /** Kustomizations by path of the file, the top one first. */
  readonly kustomizations: ReadonlyMap<string, Kustomization>;
  /** Paths of all other files that the build reads. */
  readonly files: ReadonlySet<string>;
  /** Folders of kustomizations to which other kustomizations refer. */
  readonly used: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

const KUSTOMIZATIONS_MAX = 500;
const FILES_MAX = 5_000;

interface Walking {
  readonly tree: Tree;
  readonly cache: LoadCache | undefined;
  readonly kustomizations: Map<string, Kustomization>;
  readonly files: Set<string>;
  readonly used: Set<string>;
  readonly problems: Problem[];
  /** Set when the kustomization is too large. The walk then ends with one problem. */
  isTooLarge: boolean;
}

export async function traceKustomization(tree: Tree, folder: string, cache?: LoadCache): Promise<KustomizationWalk> {
  const found = { kustomizations: new Map(), files: new Set<string>(), used: new Set<string>() };
  const walking: Walking = { tree, cache, ...found, problems: [], isTooLarge: false };
  await visitFolder(walking, folder, []);
  return { folder, ...walking };
}

type FaultAt = (pointer: string, at?: 'key') => SourcePlace;

async function visitFolder(walking: Walking, folder: string, above: readonly string[]): Promise<void> {
  const { tree, cache, problems, kustomizations, files } = walking;
  const [file, second] = FILE_NAMES.map((name) => pathIn(folder, name)).filter((path) => tree.find(path) === 'file');
  if (file === undefined || kustomizations.has(file)) return;
  const start = { file: tree.show(file), line: 1, column: 1 };
  if (second !== undefined)
    problems.push(
      problemOf('kustomization-invalid', `The folder also has ${tree.show(second)}: keep one of the two files.`, start),
    );
  if (kustomizations.size >= KUSTOMIZATIONS_MAX || files.size >= FILES_MAX) {
    refuseSize(walking, start);
    return;
  }
  const read = await readKustomization(tree, file, cache);
  if ('problems' in read) {
    problems.push(...read.problems);
    return;
  }
  const { value, text, place } = read;
  kustomizations.set(file, { file, text, value });
  const { references, faults } = readFields(value);
  for (const { code, message, pointer, at } of faults)
    problems.push(problemOf(code, message, place(pointer, at), pointer));
  for (const reference of references) {
    if (walking.isTooLarge) return;
    await followReference(walking, folder, [...above, folder], reference, place);
  }
}

function refuseSize(walking: Walking, place: SourcePlace, pointer?: string): void {
  walking.isTooLarge = true;
  walking.problems.push(problemOf('kustomization-too-large', TOO_LARGE, place, pointer));
}

const TOO_LARGE = `A kustomization uses at most ${KUSTOMIZATIONS_MAX} kustomizations and ${FILES_MAX} files: split it.`;

async function followReference(
  walking: Walking,
  folder: string,
  above: readonly string[],
  { path, pointer, to }: Reference,
  place: FaultAt,
): Promise<void> {
  const { tree, files, used, problems } = walking;
  const fail = (code: string, message: string): void => {
    problems.push(problemOf(code, message, place(pointer), pointer));
  };
  const target = isRemote(path) ? undefined : resolvePath(folder, path);
  if (target === undefined)
    return fail(
      'kustomization-outside',
      `"${path}" is outside of this repository, and skep reads nothing from there: copy it into the repository.`,
    );
  const found = tree.find(target);
  if (found === 'link')
    return fail(
      'kustomization-path',
      `"${path}" is or is below a symbolic link or submodule, which is not followed: name the file itself.`,
    );
  const isRight = found === 'file' ? to !== 'folder' : found === 'folder' && to !== 'file';
  if (!isRight)
    return fail(
      'kustomization-path',
      `"${path}" is not a ${to === 'either' ? 'file or folder' : to} of this repository: correct the path.`,
    );
  if (found === 'file') {
    if (files.size >= FILES_MAX && !files.has(target)) return refuseSize(walking, place(pointer), pointer);
    files.add(target);
    return undefined;
  }
  if (above.includes(target))
    return fail('kustomization-path', `"${path}" leads back to this kustomization: remove the circle.`);
  if (!FILE_NAMES.some((name) => tree.find(pathIn(target, name)) === 'file'))
    return fail(
      'kustomization-path',
      `"${path}" is a folder without a kustomization.yaml: add one, or name its files.`,
    );
  used.add(target);
  return visitFolder(walking, target, above);
}

/**
 * Returns true if kustomize could read the path as a URL or repository, even if a file with this path exists. Also
 * returns true for unusual characters.
 */
function isRemote(path: string): boolean {
  return /[:?*\\\p{Cc}]|\/\/|@|^github\.com\/|\.git(?:\/|$)|_git\//iu.test(path);
}

type KustomizationFile =
  | { readonly problems: readonly Problem[] }
  | { readonly text: string; readonly value: JsonObject; readonly place: FaultAt };

async function readKustomization(tree: Tree, file: string, cache: LoadCache | undefined): Promise<KustomizationFile> {
  const decoded = await readKustomizationText(tree, file, cache);
  const start = { file: tree.show(file), line: 1, column: 1 };
  if ('fault' in decoded)
    return { problems: [problemOf('encoding-invalid', `The file is not text: ${decoded.fault}.`, start)] };
  const { text } = decoded;
  if (text.length > LENGTH_MAX)
    return {
      problems: [problemOf('kustomization-too-large', 'The file has more than 1 MiB: split the kustomization.', start)],
    };
  const documents = readDocuments(text, tree.show(file));
  const problems = documents.flatMap((each) => each.problems);
  const [document] = documents;
  if (problems.length > 0) return { problems };
  if (documents.length !== 1 || document === undefined || !isObject(document.value)) {
    return { problems: [problemOf('kustomization-invalid', 'A kustomization is one document with a mapping.', start)] };
  }
  return { text, value: document.value, place: document.place };
}

async function readKustomizationText(tree: Tree, file: string, cache: LoadCache | undefined): Promise<FileText> {
  const key = `kustomization file ${tree.oid(file)}`;
  const known = cache?.get(key);
  if (known !== undefined) return known as FileText;
  const found = (await tree.read([file])).get(file);
  const decoded = decodeFile(found?.bytes ?? new Uint8Array());
  cache?.set(key, decoded);
  return decoded;
}

const LENGTH_MAX = 1024 * 1024;

function problemOf(code: string, message: string, place: SourcePlace, pointer?: string): Problem {
  return { code, severity: 'error', message, place, ...(pointer === undefined ? {} : { pointer }) };
}

/** Returns true for a component, which kustomize builds only as a part of other kustomizations. */
export function isComponent({ kustomizations }: KustomizationWalk): boolean {
  const [first] = kustomizations.values();
  return first?.value.kind === 'Component';
}

export function kustomizationFolders(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.filter(isKustomizationFile).map(folderOf))];
}
