// Reads the manifests of a checkout as text, and reports files below the path that could not be read.

import assert from 'node:assert/strict';
import type { Cut } from '#kubernetes/rules/large-values.ts';
import { Failure } from '#std/failure.ts';
import type { Problem } from '#std/problem.ts';
import { decodeFile, encodingProblem } from '#std/utf8.ts';
import type { Checkout, RepositoryFile } from '../ports.ts';
import { pathMatcher } from './patterns.ts';
import { shorten } from './short-text.ts';
import type { SoundFile, SoundFiles } from './sound-files.ts';
import { isManifest, type LoadCache, type SourceFile } from './source-file.ts';
import { hasExpression } from './substitute/expressions.ts';

export interface Manifests {
  readonly documents: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /**
   * True if a file or link that may contain manifests was not read. In this case no object of the source may be
   * deleted.
   */
  readonly incomplete: boolean;
}

export interface ManifestPaths {
  /** Folder; empty for the whole repository. */
  readonly path: string;
  /** Patterns of paths below the folder that are ignored. */
  readonly ignore?: readonly string[];
  /** Default namespace for objects of namespaced kinds. */
  readonly namespace?: string | undefined;
  /** Set if expressions are replaced. Files with expressions then keep their long values. */
  readonly expressions?: true;
  /** Returns true for paths that another stage reads. */
  readonly except?: (path: string) => boolean;
}

/** Returns the normalised folder of the source. `prefix` is the folder with a slash at its end, or '' for the root. */
export function pathsOf({ path, ignore = [] }: Pick<ManifestPaths, 'path' | 'ignore'>): {
  readonly folder: string;
  readonly prefix: string;
  readonly isRead: (path: string) => boolean;
} {
  const folder = path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
  const prefix = folder === '' ? '' : `${folder}/`;
  const ignored = pathMatcher('ignore', ignore);
  return { folder, prefix, isRead: (each) => !ignored(each.slice(prefix.length)) };
}

/**
 * Reads YAML and JSON files below the path. Throws Failure `source-path-not-found` if the path does not exist in the
 * commit. Otherwise a mistyped or moved path would make all objects of the source undeclared.
 */
export async function gatherManifests(
  checkout: Checkout,
  { path, ignore = [], namespace, expressions, except = () => false }: ManifestPaths,
  cache: LoadCache,
  sound?: SoundFiles,
): Promise<Manifests> {
  const { prefix, isRead } = pathsOf({ path, ignore });
  const below = checkout.files.filter((file) => file.path.startsWith(prefix));
  const links = checkout.skipped.filter((entry) => entry.path.startsWith(prefix));
  if (below.length === 0 && links.length === 0) throw pathNotFound(checkout, path);
  const files = below.filter((file) => isManifest(file.path) && isRead(file.path) && !except(file.path));
  const { texts, faults } = await textsOf(checkout, path, files, { cache, sound, expressions });
  const documents: SourceFile[] = [];
  const problems: Problem[] = links
    .filter((link) => mayHoldManifests(link.path) && isRead(link.path) && !except(link.path))
    .map(skippedProblem);
  let length = 0;
  for (const { path: file, oid } of files) {
    const read = texts.get(oid);
    length += read?.length ?? 0;
    // One blob can be at very many paths. Its text counts for each path, because it is parsed once for each path.
    if (length > LENGTH_MAX) throw manifestsTooLarge(checkout, path);
    if (read === undefined)
      problems.push(encodingProblem(file, faults.get(oid) ?? 'the file cannot be read from the repository'));
    else documents.push({ ...fileOf(file, oid, read), namespace });
  }
  return { documents, problems, incomplete: problems.length > 0 };
}

interface ReadText {
  /** Text. If `cuts` is set, its long values are removed. */
  readonly text: string;
  readonly cuts?: readonly Cut[];
  /** Length of the original text. */
  readonly length: number;
}

function textLeft(file: SoundFile | undefined): ReadText | undefined {
  return file === undefined ? undefined : { text: file.text, length: file.text.length };
}

function fileOf(path: string, oid: string, { text, cuts }: ReadText): SourceFile {
  return cuts === undefined ? { path, oid, text } : { path, oid: `${oid} short`, text, shortened: { blob: oid, cuts } };
}

/** Reads the text of a blob. The blob must be text. */
export async function readBlobText(checkout: Checkout, oid: string): Promise<string> {
  const decoded = decodeFile((await checkout.read([oid])).get(oid) ?? new Uint8Array());
  assert('text' in decoded, 'a blob that was text is text');
  return decoded.text;
}

interface Texts {
  /** Texts by blob id. The map lacks blobs that are not text. */
  readonly texts: ReadonlyMap<string, ReadText>;
  /** Reasons by blob id, for blobs that are not text. */
  readonly faults: ReadonlyMap<string, string>;
}

async function textsOf(
  checkout: Checkout,
  path: string,
  files: readonly RepositoryFile[],
  {
    cache,
    sound,
    expressions = false,
  }: {
    readonly cache: LoadCache;
    readonly sound: SoundFiles | undefined;
    readonly expressions?: boolean | undefined;
  },
): Promise<Texts> {
  let length = 0;
  const texts = new Map<string, ReadText>();
  const faults = new Map<string, string>();
  const unknown = new Set<string>();
  for (const file of files) {
    const { oid } = file;
    const known = cache.get(blobKey(oid, expressions)) ?? textLeft(sound?.find(file));
    if (known !== undefined) texts.set(oid, known as ReadText);
    else unknown.add(oid);
  }
  // In addition to all texts, only the bytes of one batch of files are in memory.
  const left = [...unknown];
  for (let count = FIRST_READ; left.length > 0; ) {
    let bytesRead = 0;
    for (const [oid, bytes] of await checkout.read(left.splice(0, count))) {
      bytesRead += bytes.length;
      const decoded = decodeFile(bytes);
      if ('fault' in decoded) {
        faults.set(oid, decoded.fault);
        continue;
      }
      const { text } = decoded;
      length += text.length;
      const isWhole = expressions && hasExpression(text);
      const read: ReadText = { length: text.length, ...((isWhole ? undefined : shorten(text)) ?? { text }) };
      cache.set(blobKey(oid, expressions), read);
      texts.set(oid, read);
    }
    if (length > LENGTH_MAX) throw manifestsTooLarge(checkout, path);
    count = Math.max(1, Math.min(count * 16, Math.floor((count * READ_BYTES) / Math.max(1, bytesRead))));
  }
  return { texts, faults };
}

/** Number of files in the first batch, and maximum bytes of a later batch. */
const FIRST_READ = 32;
const READ_BYTES = 16 * 1024 * 1024;

function blobKey(oid: string, expressions: boolean): string {
  return expressions ? `blob ${oid} with expressions` : `blob ${oid}`;
}

/** Maximum characters of all texts: three times the need of a fleet of a hundred thousand resources. */
const LENGTH_MAX = 256 * 1024 * 1024;

function manifestsTooLarge({ commit }: Checkout, path: string): Failure {
  const message = `the manifests of commit ${commit} come to more than 256 MiB: narrow the path, or split the source`;
  return new Failure('manifests-too-large', message, { data: { commit, path } });
}

/** Returns true if manifests may be at the path. A link without a file extension may point to a folder. */
function mayHoldManifests(path: string): boolean {
  const [name = ''] = path.split('/').slice(-1);
  return isManifest(name) || !name.includes('.');
}

/** Returns the link at the path or at one of its parents; undefined if the path has no link. */
export function linkAt({ skipped }: Checkout, path: string): Checkout['skipped'][number] | undefined {
  return skipped.find((entry) => `${path}/`.startsWith(`${entry.path}/`));
}

function pathNotFound(checkout: Checkout, path: string): Failure {
  const { commit } = checkout;
  const link = linkAt(checkout, path);
  const where = path === '' ? 'no files' : `no files at "${path}"`;
  const why = link === undefined ? '' : `: "${link.path}" is a ${link.reason}, which is not followed`;
  const message = `commit ${commit} has ${where}${why}; to give its objects up, take the source out of the configuration`;
  return new Failure('source-path-not-found', message, { data: { commit, path } });
}

export function skippedProblem({ path, reason }: Checkout['skipped'][number]): Problem {
  return {
    code: 'link-not-followed',
    severity: 'warning',
    message: `This is a ${reason}, which is not followed: its target is not read, and nothing of the source is deleted.`,
    place: { file: path, line: 1, column: 1 },
  };
}
