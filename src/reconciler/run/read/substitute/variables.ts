// Collects the variables of a source: values in skep.yaml, and in ConfigMaps and Secrets of the home namespace.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import type { Cluster } from '../../ports.ts';

/** Setting `substitute` of a source in skep.yaml. */
export interface Substitution {
  /** Values that take precedence over the values of `from`. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** Objects with values. A later object takes precedence over an earlier object. */
  readonly from: readonly VariableObject[];
}

interface VariableObject {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  /** True if the object may be missing. */
  readonly optional: boolean;
}

interface Variable {
  readonly value: string;
  /** True if the value comes from a Secret: then only Secrets may contain it. */
  readonly secret: boolean;
}

export interface Variables {
  /** Name of the source. */
  readonly source: string;
  readonly values: ReadonlyMap<string, Variable>;
  /** Objects whose values were requested, as messages name them. */
  readonly from: readonly string[];
  /**
   * False if `from` could not be read because there is no cluster, so that a name without a value may have a value
   * there.
   */
  readonly complete: boolean;
  /** If set, no name has a value and no default is used: every expression stays. */
  readonly literal?: true;
  /**
   * Equal digests mean equal values. The digest stays in memory, because it is computed from values of Secrets, too.
   */
  readonly digest: string;
}

/** Throws Failure `variables-unreadable`, and failures of the cluster. */
export async function readVariables(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  source: string,
  { values = {}, from }: Substitution,
): Promise<Variables> {
  const objects = await Promise.all(from.map((object) => readVariableObject(cluster, namespace, source, object)));
  return collectVariables(source, from, [...objects.flat(), ...entriesOfValues(values, false)], true);
}

/** Returns the variables that are known without a cluster. */
export function declaredVariables(source: string, { values = {}, from }: Substitution): Variables {
  return collectVariables(source, from, entriesOfValues(values, false), from.length === 0);
}

/** Variables for use if all values are unknown: texts with expressions are compared, but never checked. */
export const LITERAL_VARIABLES: Variables = {
  source: '',
  values: new Map(),
  from: [],
  complete: false,
  literal: true,
  digest: 'literal',
};

type Entry = readonly [string, Variable];

function collectVariables(
  source: string,
  from: readonly VariableObject[],
  entries: readonly Entry[],
  complete: boolean,
): Variables {
  const values = new Map(entries);
  const names = from.map(({ kind, name }) => `${kind}/${name}`);
  return { source, values, from: names, complete, digest: digest([source, complete, names, ...values]) };
}

/** Returns the values without line breaks, because a value must not add lines to a text. */
function entriesOfValues(values: Readonly<Record<string, string>>, secret: boolean): readonly Entry[] {
  return Object.entries(values).map(([name, value]) => [name, { value: value.replaceAll('\n', ''), secret }]);
}

async function readVariableObject(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  source: string,
  { kind, name, optional }: VariableObject,
): Promise<readonly Entry[]> {
  const found = await cluster.get({ apiVersion: 'v1', kind, namespace, name });
  if (found === undefined && optional) return [];
  if (found === undefined) {
    const message = `source ${source} takes variables from ${namespace}/${kind}/${name}, which does not exist: create it, or set \`optional: true\` in substitute.from of skep.yaml`;
    throw new Failure('variables-unreadable', message, { data: { source, kind, namespace, name } });
  }
  const { data } = found;
  const texts = Object.entries(isObject(data) ? data : {}).flatMap(([key, value]): [string, string][] => {
    if (typeof value !== 'string') return [];
    return [[key, kind === 'Secret' ? Buffer.from(value, 'base64').toString('utf8') : value]];
  });
  return entriesOfValues(Object.fromEntries(texts), kind === 'Secret');
}
