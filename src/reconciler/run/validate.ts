// Validates manifests without a cluster. References are resolved only among the manifests. Secrets and ConfigMaps may
// exist only in a cluster, so they are not required.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import { type Problem, sortByPlace } from '#std/problem.ts';
import type { Kind } from '../kinds/kind.ts';
import { declaredImages } from './catalogue/declared-images.ts';
import { emptyFilters } from './catalogue/empty-filters.ts';
import { privateSources } from './catalogue/private-sources.ts';
import type { ImagePolicy } from './images/policy.ts';
import { imagesVerifiedLater } from './images/verified-later.ts';
import { openViews } from './observe/view.ts';
import { declaredFacts, definitionsAmong } from './policy/facts.ts';
import { admittedObject, evaluateAll, openPolicies } from './policy/policies.ts';
import { definitionsOf, type Loaded, type LoadedResource, load } from './read/load.ts';
import { parseFile } from './read/parsed-file.ts';
import { problemOf } from './read/problem-of.ts';
import type { LoadCache, SourceFile } from './read/source-file.ts';
import { restsOnUnknown } from './read/substitute/unknown-values.ts';
import { resolve } from './resolve/resolve.ts';
import { checkLocks } from './resolve/tool-locks.ts';

export interface ValidateInput {
  readonly documents: readonly SourceFile[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** Files with CRDs of kinds that the documents use but do not define. */
  readonly schemas?: readonly SourceFile[];
  /** CRDs that are used if neither the documents nor `schemas` define a kind. */
  readonly definitions?: readonly JsonObject[];
  /** If absent, no policies are evaluated. */
  readonly policies?: PolicySet;
  readonly cache?: LoadCache;
  /** If set, the configuration allows private addresses of sources. Such addresses are then not reported. */
  readonly allowsPrivate?: boolean;
  /** If absent, runs do not verify images. */
  readonly verify?: ImagePolicy | undefined;
}

export interface ManifestValidation {
  readonly summary: {
    readonly files: number;
    readonly resources: number;
    readonly valid: number;
    readonly invalid: number;
    readonly problems: number;
    /** Number of violations of policies that only audit. */
    readonly audited?: number;
  };
  readonly problems: readonly Problem[];
  /**
   * Set if rules and policies could not check some objects: the identity of these objects is uncertain, or they do not
   * fit their schema.
   */
  readonly incomplete?: true;
  /** Paths of all files that were read, sorted. */
  readonly files: readonly string[];
}

export function validate(input: ValidateInput): ManifestValidation {
  const { documents, kinds, apiGroup, schemas = [], definitions = [], cache } = input;
  const parsed = schemas.map((file) => parseFile(file, cache));
  const loaded = load({
    source: 'files',
    documents,
    kinds,
    apiGroup,
    builtin: bundledSchema,
    definitions: [...definitions, ...parsed.flatMap(definitionsOf)],
    foreign: 'unchecked',
    cache,
  });
  const broken = new Set(loaded.invalid.map(keyOf));
  const resources = loaded.resources.map(ofFiles);
  const sound = resources.filter(({ id }) => !broken.has(keyOf(id)));
  const { invalid, locks: declaredLocks } = loaded;
  const locks = checkLocks({ locks: declaredLocks.map(ofFiles), loaded: resources, invalid });
  const references = checkReferences(input, resources, { sound, invalid, locks: locks.objects });
  const inside = input.allowsPrivate === true ? [] : privateSources(resources);
  const unread = parsed.flatMap((file) => file.problems.map(({ problem }) => problem));
  const evaluated = evaluatePolicies(input, sound, parsed.flatMap(definitionsOf));
  const plain = resources.filter(isPlainSecret).map((resource) => problemOf(resource, PLAINTEXT));
  const problems = sortByPlace([
    ...unread,
    ...loaded.problems,
    ...locks.problems,
    ...references.unresolved,
    ...plain,
    ...references.unknownImages,
    ...references.emptyFilters,
    ...inside,
    ...imagesVerifiedLater(sound, input.verify),
    ...(evaluated?.problems ?? []),
  ]);
  for (const { severity, resource } of problems) {
    if (severity === 'error' && resource !== undefined) broken.add(keyOf(resource));
  }
  const files = [...new Set(documents.map(({ path }) => path))].sort();
  const audited = evaluated?.audited === 0 ? undefined : evaluated?.audited;
  const declared = loaded.resources.length + loaded.locks.length;
  const counts = { resources: declared, valid: declared - broken.size, invalid: broken.size };
  const summary = { files: files.length, ...counts, problems: problems.length, audited };
  const incomplete = loaded.unidentified || loaded.invalid.length > 0 ? ({ incomplete: true } as const) : {};
  return { summary, problems, ...incomplete, files };
}

function ofFiles(resource: LoadedResource) {
  return { ...resource, source: 'files' };
}

interface DeclaredManifests extends Pick<Loaded, 'invalid'> {
  readonly sound: readonly LoadedResource[];
  readonly locks: readonly KubeObject[];
}

/** Checks references among the documents. If the images of a registry are unknown, reports this once per registry. */
function checkReferences(
  { kinds, apiGroup }: ValidateInput,
  resources: Parameters<typeof resolve>[0]['loaded'],
  { sound, invalid, locks }: DeclaredManifests,
) {
  const own = new Set(kinds.map((kind) => kind.kind));
  const views = openViews({ apiGroup, layers: [sound.map((each) => each.defaulted ?? each.object)], locks });
  const enforced = declaredImages(resources, views);
  const resolved = resolve({
    loaded: resources,
    invalid,
    kinds,
    views,
    knowledge: (kind) => (own.has(kind) ? 'declared' : 'none'),
    images: enforced.images,
    leftAlone: new Set(),
    living: () => undefined,
  });
  const problems = withoutUnknown(resolved.problems, resources);
  return {
    unresolved: problems.filter(({ code }) => code !== 'image-unknown'),
    unknownImages: enforced.problems,
    emptyFilters: emptyFilters(sound, views),
  };
}

/** Drops problems with values that are unknown without a cluster. */
function withoutUnknown(problems: readonly Problem[], resources: readonly LoadedResource[]): readonly Problem[] {
  const unknown = new Map(
    resources.flatMap(({ id, unknown: each }) => (each === undefined ? [] : [[keyOf(id), each]])),
  );
  if (unknown.size === 0) return problems;
  return problems.filter(
    ({ resource, pointer }) => resource === undefined || !restsOnUnknown(pointer, unknown.get(keyOf(resource))),
  );
}

const PLAINTEXT: Finding = {
  code: 'secret-plaintext',
  severity: 'warning',
  pointer: '/kind',
  message:
    'the values of this Secret can be read by all who can read the repository: encrypt it, or create it in the cluster (docs/secrets.md)',
};

/**
 * Returns true for a Secret with unencrypted values. Returns false for an empty Secret, because other tools fill it.
 */
function isPlainSecret({ id, object, sealed, unknown = [] }: LoadedResource): boolean {
  if (id.apiVersion !== 'v1' || id.kind !== 'Secret' || sealed === true) return false;
  return (['data', 'stringData'] as const).some((field) => {
    const values = object[field];
    const written = isObject(values) ? Object.keys(values).map((key) => `/${field}/${pointerToken(key)}`) : [];
    return written.some((pointer) => !unknown.includes(pointer));
  });
}

function evaluatePolicies(
  { policies, kinds, apiGroup }: ValidateInput,
  sound: readonly LoadedResource[],
  schemas: JsonObject[],
) {
  if (policies === undefined) return undefined;
  const definitions = [...schemas, ...definitionsAmong(sound)];
  const facts = declaredFacts(sound, definitions);
  const court = openPolicies({ policies, kinds, apiGroup, definitions, facts });
  return evaluateAll(
    court,
    sound.map((resource) => ({ of: resource, object: admittedObject(resource), resource })),
  );
}
