// Builds one kustomization, and creates a file for each built object. Results are cached by content.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Problem, SourcePlace } from '#std/problem.ts';
import { mayBeSealed } from '#std/sops/cipher.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { KustomizeBuilder } from '../../ports.ts';
import { isManifest, type LoadCache, type SourceFile } from '../source-file.ts';
import type { PatchText, TextFile } from './built.ts';
import { folderOf, resolvePath, type Tree, type TreeFile } from './tree.ts';
import type { Kustomization, KustomizationWalk } from './walk.ts';

/** Result of a build. It is JSON, so that any cache can store it. */
export interface BuildResult {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

interface Remembered extends BuildResult {
  /** Number of runs that use this result before the next build. Set if the same input may have another result later. */
  readonly retryIn?: number;
}

/**
 * Number of runs that use the result of a build that timed out, before it is tried again. A busy machine may have
 * caused the timeout. By default, runs are half a minute apart.
 */
const RETRY_IN = 20;

export function isCostly({ problems }: Pick<BuildResult, 'problems'>): boolean {
  return problems.some(({ code }) => code === 'kustomize-too-costly');
}

const BYTES_MAX = 32 * 1024 * 1024;
const ORIGIN = 'config.kubernetes.io/origin';

export async function buildKustomization(
  builder: KustomizeBuilder,
  tree: Tree,
  walk: KustomizationWalk,
  cache: LoadCache,
): Promise<BuildResult> {
  if (walk.problems.length > 0) return { files: [], problems: walk.problems };
  const place = { file: tree.show(kustomizationOf(walk).file), line: 1, column: 1 };
  try {
    const identity = await builder.identity();
    const key = `kustomization ${buildDigest(identity, tree, walk)}`;
    const known = cache.get(key) as Remembered | undefined;
    if (known !== undefined && known.retryIn !== 0) {
      if (known.retryIn !== undefined) cache.set(key, { ...known, retryIn: known.retryIn - 1 });
      return known;
    }
    const result = await buildNow(builder, tree, walk);
    cache.set(key, isCostly(result) ? { ...result, retryIn: RETRY_IN } : result);
    return result;
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { files: [], problems: [{ code: failure.code, severity: 'error', message: failure.message, place }] };
  }
}

/** Returns a digest of all input of a build. */
export function buildDigest(
  identity: string,
  tree: Tree,
  { folder, kustomizations, files }: KustomizationWalk,
): string {
  return digest([identity, folder, ...[...kustomizations.keys(), ...files].map((path) => [path, tree.oid(path)])]);
}

/**
 * Builds a kustomization. If the content is refused, the refusal is cached like a result, because the same content
 * would be refused again.
 */
async function buildNow(builder: KustomizeBuilder, tree: Tree, walk: KustomizationWalk): Promise<BuildResult> {
  const place = { file: tree.show(kustomizationOf(walk).file), line: 1, column: 1 };
  const contents = await tree.read([...walk.files]);
  const refused = refuseContents(tree, contents, place);
  if (refused.length > 0) return { files: [], problems: refused };
  try {
    const text = await builder.build(walk.folder, new Map([...kustomizationTexts(walk), ...fileBytes(contents)]));
    return { files: filesOf(text, tree, walk, contents), problems: [] };
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code === 'kustomize-missing') throw failure;
    return { files: [], problems: [{ code: failure.code, severity: 'error', message: failure.message, place }] };
  }
}

function kustomizationOf({ kustomizations }: KustomizationWalk): Kustomization {
  const [first = { file: '', text: '', value: {} }] = kustomizations.values();
  return first;
}

function fileBytes(contents: ReadonlyMap<string, TreeFile>): [string, Uint8Array][] {
  return [...contents].map(([path, { bytes }]) => [path, bytes]);
}

/**
 * Returns the kustomizations as JSON of the checked values. Kustomize reads this JSON, not the original texts, and so
 * gets exactly the checked values.
 */
function kustomizationTexts({ kustomizations }: KustomizationWalk): [string, Uint8Array][] {
  return [...kustomizations.values()].map(({ file, value }, index) => [
    file,
    Buffer.from(JSON.stringify(index === 0 ? withOrigins(value) : value)),
  ]);
}

function withOrigins(value: JsonObject): JsonObject {
  const { buildMetadata } = value;
  const options = Array.isArray(buildMetadata) ? buildMetadata : [];
  return hasOrigins(value) ? value : { ...value, buildMetadata: [...options, 'originAnnotations'] };
}

function hasOrigins({ buildMetadata }: JsonObject): boolean {
  return Array.isArray(buildMetadata) && buildMetadata.includes('originAnnotations');
}

function refuseContents(tree: Tree, contents: ReadonlyMap<string, TreeFile>, place: SourcePlace): readonly Problem[] {
  const size = [...contents.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size > BYTES_MAX) {
    const message = `The files of the kustomization have more than ${BYTES_MAX / 1024 / 1024} MiB: split it.`;
    return [{ code: 'kustomization-too-large', severity: 'error', message, place }];
  }
  const [sealed] = [...contents].find(([, { bytes }]) => mayBeSealed(Buffer.from(bytes).toString('latin1'))) ?? [];
  if (sealed === undefined) return [...contents].flatMap(([path, { bytes }]) => bombsIn(tree.show(path), bytes));
  const message =
    'The file is encrypted with SOPS, and a build would break its signature: move it out of the folder of the kustomization.';
  return [
    {
      code: 'kustomization-sealed',
      severity: 'error',
      message,
      place: { file: tree.show(sealed), line: 1, column: 1 },
    },
  ];
}

/** Reports texts whose aliases expand too much: kustomize expands aliases without a limit. */
function bombsIn(path: string, bytes: Uint8Array): readonly Problem[] {
  const text = Buffer.from(bytes).toString();
  if (!isManifest(path) || !text.includes('&') || !text.includes('*')) return [];
  return readDocuments(text, path).flatMap(({ problems }) => problems);
}

function filesOf(
  text: string,
  tree: Tree,
  walk: KustomizationWalk,
  contents: ReadonlyMap<string, TreeFile>,
): SourceFile[] {
  const texts = new Map<string, TextFile>();
  for (const [path, { bytes }] of contents)
    texts.set(path, { path: tree.show(path), text: Buffer.from(bytes).toString() });
  for (const { file, text: written } of walk.kustomizations.values())
    texts.set(file, { path: tree.show(file), text: written });
  const kustomization = kustomizationOf(walk);
  const top = texts.get(kustomization.file) ?? { path: tree.show(kustomization.file), text: '' };
  const patches = [...walk.kustomizations.values()].flatMap((each) => patchesOf(each, texts));
  const patchesDigest = digest(patches.map(({ file, pointer = '' }) => [file.path, file.text, pointer]));
  const keepsOrigins = hasOrigins(kustomization.value);
  return text.split(/^---\n/m).flatMap((part): SourceFile[] => {
    const [read] = readDocuments(part, top.path);
    if (read === undefined) return [];
    const { value = null, problems } = read;
    const found = findOrigin(value, walk.folder, texts);
    const origin = found?.file ?? top;
    // If JSON cannot represent the values, the built text is kept, and later stages report its problems.
    const object = problems.length > 0 ? part : JSON.stringify(keepsOrigins ? value : withoutOrigin(value));
    const oid = digest([object, origin.path, origin.text, top.path, top.text, patchesDigest]);
    const built = { kustomization: top, origin, generated: found?.generated ?? true, patches };
    return [{ path: origin.path, oid, text: object, built }];
  });
}

function findOrigin(
  value: Json,
  folder: string,
  texts: ReadonlyMap<string, TextFile>,
): { readonly file: TextFile; readonly generated: boolean } | undefined {
  const annotations = isObject(value) && isObject(value.metadata) ? value.metadata.annotations : undefined;
  const written = isObject(annotations) ? annotations[ORIGIN] : undefined;
  const [read] = typeof written === 'string' ? readDocuments(written, '') : [];
  if (!isObject(read?.value)) return undefined;
  const { path, configuredIn } = read.value;
  const named = typeof path === 'string' ? path : configuredIn;
  const file = typeof named === 'string' ? texts.get(resolvePath(folder, named) ?? '') : undefined;
  return file === undefined ? undefined : { file, generated: typeof path !== 'string' };
}

function withoutOrigin(value: Json): Json {
  if (!isObject(value) || !isObject(value.metadata) || !isObject(value.metadata.annotations)) return value;
  const { annotations, ...metadata } = value.metadata;
  const { [ORIGIN]: _origin, ...others } = annotations;
  return { ...value, metadata: Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others } };
}

/** Returns the patches, field by field in the order in which kustomize applies the fields. */
function patchesOf({ file, value }: Kustomization, texts: ReadonlyMap<string, TextFile>): PatchText[] {
  const own = texts.get(file);
  return ['patchesStrategicMerge', 'patches', 'patchesJson6902'].flatMap((field) => {
    const listed = value[field];
    return (Array.isArray(listed) ? listed : []).flatMap((each, index): PatchText[] => {
      const pointer = `/${field}/${index}`;
      const { path = each, patch, target = {} }: JsonObject = isObject(each) ? each : {};
      const named = typeof path === 'string' ? texts.get(resolvePath(folderOf(file), path) ?? '') : undefined;
      const options = { target: isObject(target) ? target : {} };
      if (named !== undefined) return [{ file: named, ...options }];
      if (own === undefined) return [];
      return [{ file: own, pointer: typeof patch === 'string' ? `${pointer}/patch` : pointer, ...options }];
    });
  });
}
