// Lists the kinds that a source may contain, and how each is checked: our kinds, built-in kinds, and kinds with a CRD.

import { TOOL_LOCK, TOOL_LOCK_SCHEMA } from '#contracts/tool-lock/schema.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import { bundledKinds } from '#kubernetes/rules/schemas/bundled.ts';
import { compileStructural, type Structural } from '#kubernetes/rules/structural/structural.ts';
import { didYouMean } from '#std/closest.ts';
import { digest } from '#std/hash.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import { structural, structuralSchema, VERSIONS } from '../../kinds/crd.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findRecalledKind } from './foreign/recalled.ts';

export type KnownKind =
  | { readonly type: 'ours'; readonly kind: Kind; readonly structural: Structural; readonly namespaced: true }
  | { readonly type: 'custom'; readonly structural: Structural; readonly namespaced: boolean }
  /** A tool lock, which is read and never applied. */
  | { readonly type: 'lock'; readonly structural: Structural; readonly namespaced: true }
  /** A foreign kind with a schema from this program. The release in the cluster may have other fields. */
  | { readonly type: 'recalled'; readonly structural: Structural; readonly namespaced: boolean }
  | { readonly type: 'builtin'; readonly document: OpenApiDocument; readonly namespaced: boolean }
  /**
   * A kind without a schema: a foreign kind, or a kind known only from discovery. Only the rules for all objects are
   * checked.
   */
  | { readonly type: 'unchecked'; readonly namespaced: 'as written' | boolean };

/** A kind in the discovery of the server. */
export interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface KindTable {
  /** Returns how objects of the kind are checked; undefined if such objects are refused. */
  find(apiVersion: string, kind: string): KnownKind | undefined;
  /** Returns why objects of the kind are refused, and how they can be allowed. */
  explain(apiVersion: string, kind: string): string;
  /**
   * Returns true if the kind may be of another project: the table has no kind of its API group. Its CRD may be in the
   * cluster.
   */
  isForeign(apiVersion: string, kind: string): boolean;
  /** Changes whenever a result of `find` may change. Computed on first use. */
  readonly digest: string;
}

export interface KindTableInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly builtin: (apiVersion: string) => OpenApiDocument | undefined;
  readonly definitions: readonly JsonObject[];
  /** Kinds that are known only from discovery. */
  readonly served?: readonly ServedKind[] | undefined;
  /** `unchecked`: objects of foreign kinds are accepted unchecked. */
  readonly foreign: 'refused' | 'unchecked';
}

const UNCHECKED: KnownKind = { type: 'unchecked', namespaced: 'as written' };

interface Compiled {
  readonly structural: Structural;
  readonly digest: string;
}

/** Cache by kind. Kinds are constants of the program, so each is compiled once. */
const compiledKinds = new WeakMap<Kind, Compiled>();

export function kindTable(input: KindTableInput): KindTable {
  const ours = VERSIONS.map((version) => `${input.apiGroup}/${version}`);
  const known = new Map<string, KnownKind>();
  const digests: string[] = [...ours, input.foreign];
  for (const definition of input.definitions) {
    for (const [key, custom] of customKinds(definition)) known.set(key, custom);
    digests.push(digest(definition));
  }
  for (const { apiVersion, kind, namespaced } of bundledKinds()) {
    const document = input.builtin(apiVersion);
    if (document !== undefined) known.set(`${apiVersion} ${kind}`, { type: 'builtin', document, namespaced });
  }
  for (const kind of input.kinds) {
    for (const apiVersion of ours) known.set(`${apiVersion} ${kind.kind}`, ourKind(kind));
  }
  known.set(`${TOOL_LOCK.apiVersion} ${TOOL_LOCK.kind}`, TOOL_LOCKS);
  for (const { apiVersion, kind, namespaced } of input.served ?? []) {
    const key = `${apiVersion} ${kind}`;
    if (!known.has(key)) known.set(key, { type: 'unchecked', namespaced });
    digests.push(`${key} ${namespaced}`);
  }
  const groups = new Set([...known.keys()].map((key) => groupOf(key.slice(0, key.indexOf(' ')))));
  const ourNames = new Set(input.kinds.map(({ kind }) => kind));
  // API groups without a dot belong to Kubernetes. A kind with the name of our kind in another group is a mistake, not
  // a foreign kind.
  const isForeign = (apiVersion: string, kind: string): boolean =>
    apiVersion.includes('/') &&
    groupOf(apiVersion).includes('.') &&
    !groups.has(groupOf(apiVersion)) &&
    !ourNames.has(kind);
  let whole: string | undefined;
  return {
    find: (apiVersion, kind) => {
      const found = known.get(`${apiVersion} ${kind}`);
      if (found !== undefined || input.foreign !== 'unchecked') return found;
      const recalled = findRecalledKind(apiVersion, kind);
      if (recalled !== undefined) return { type: 'recalled', ...recalled };
      return isForeign(apiVersion, kind) ? UNCHECKED : undefined;
    },
    isForeign,
    explain: (apiVersion, kind) => explanation([...known.keys()], apiVersion, kind),
    get digest() {
      whole ??= digest([...digests, TOOL_LOCK_SCHEMA, ...input.kinds.map((kind) => compiledKind(kind).digest)]);
      return whole;
    },
  };
}

let compiledLock: Structural | undefined;

const TOOL_LOCKS: KnownKind = {
  type: 'lock',
  get structural() {
    compiledLock ??= compileStructural(structural(TOOL_LOCK_SCHEMA));
    return compiledLock;
  },
  namespaced: true,
};

/** Returns one of our kinds. Its schema is compiled on first use, because few files contain resources of all kinds. */
function ourKind(kind: Kind): KnownKind {
  return {
    type: 'ours',
    kind,
    get structural() {
      return compiledKind(kind).structural;
    },
    namespaced: true,
  };
}

/** Returns the compiled schema of the kind. It is cached, because compiling is slow. */
export function compiledKind(kind: Kind): Compiled {
  const earlier = compiledKinds.get(kind);
  if (earlier !== undefined) return earlier;
  const schema = structuralSchema(kind);
  let structural: Structural | undefined;
  const compiled: Compiled = {
    get structural() {
      structural ??= compileStructural(schema, describePattern);
      return structural;
    },
    digest: digest(schema),
  };
  compiledKinds.set(kind, compiled);
  return compiled;
}

function customKinds(definition: JsonObject): [string, KnownKind][] {
  const { spec } = definition;
  if (!isObject(spec) || !isObject(spec.names)) return [];
  const { group, names, scope, versions } = spec;
  const { kind } = names;
  if (typeof group !== 'string' || typeof kind !== 'string' || !Array.isArray(versions)) return [];
  return versions.flatMap((version): [string, KnownKind][] => {
    if (!isObject(version) || typeof version.name !== 'string' || version.served === false) return [];
    const schema = schemaOf(version.schema);
    return [[`${group}/${version.name} ${kind}`, customKind(schema, scope !== 'Cluster')]];
  });
}

/** Returns a kind with a CRD. Its schema is compiled on first use. */
function customKind(schema: JsonObject, namespaced: boolean): KnownKind {
  let compiled: Structural | undefined;
  return {
    type: 'custom',
    get structural() {
      compiled ??= compileStructural(schema);
      return compiled;
    },
    namespaced,
  };
}

function schemaOf(schema: Json | undefined): JsonObject {
  return isObject(schema) && isObject(schema.openAPIV3Schema) ? schema.openAPIV3Schema : {};
}

function explanation(known: readonly string[], apiVersion: string, kind: string): string {
  const pairs = known.map((key) => {
    const [version = '', name = ''] = key.split(' ');
    return { version, name };
  });
  const versions = pairs.filter(({ version, name }) => name === kind && groupOf(version) === groupOf(apiVersion));
  if (versions.length > 0) {
    const others = versions.map(({ version }) => version).join(' or ');
    return `${kind} is not served in ${apiVersion}, but in ${others}.`;
  }
  const sameKinds = pairs.filter(({ name }) => name === kind);
  const lastPart = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  const sameKind = sameKinds.find(({ version }) => version.endsWith(`/${lastPart}`)) ?? sameKinds.at(-1);
  if (sameKind !== undefined) return `There is no ${kind} in ${apiVersion}. Did you mean "${sameKind.version}"?`;
  const sameVersion = pairs.filter(({ version }) => version === apiVersion).map(({ name }) => name);
  if (sameVersion.length > 0) return `${apiVersion} has no kind ${kind}.${didYouMean(kind, sameVersion)}`;
  return `${kind} of ${apiVersion} is not known: add its CustomResourceDefinition to the same source, or to the cluster.`;
}
