// Collects the variables of a source from skep.yaml, and from ConfigMaps and Secrets of the home namespace.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import type { Cluster } from '../../ports.ts';

/** Setting `substitute` of a source in skep.yaml. */
export interface Substitution {
  /** Values that take precedence over the values in `from`. */
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

interface SourceVariable {
  readonly value: string;
  /** True if the value comes from a Secret. The value may then be used only in Secrets. */
  readonly secret: boolean;
}

export interface Variables {
  readonly source: string;
  readonly values: ReadonlyMap<string, SourceVariable>;
  /** Names of the objects in `from`, for messages. */
  readonly from: readonly string[];
  /**
   * False if the objects in `from` were not read, because no cluster is available. A name that is missing here may have
   * a value in the cluster.
   */
  readonly complete: boolean;
  /** If set, expressions are not replaced at all. */
  readonly literal?: true;
  /** Equal digests mean equal values. It must not be written anywhere, because it depends on values of Secrets. */
  readonly digest: string;
}

/** Reads the variables. Throws Failure `variables-unreadable`, and failures of the cluster. */
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

/** Variables for expressions that are kept as text, because all values are unknown. */
export const LITERAL_VARIABLES: Variables = {
  source: '',
  values: new Map(),
  from: [],
  complete: false,
  literal: true,
  digest: 'literal',
};

type VariableEntry = readonly [string, SourceVariable];

function collectVariables(
  source: string,
  from: readonly VariableObject[],
  entries: readonly VariableEntry[],
  complete: boolean,
): Variables {
  const values = new Map(entries);
  const names = from.map(({ kind, name }) => `${kind}/${name}`);
  return { source, values, from: names, complete, digest: digest([source, complete, names, ...values]) };
}

/** Returns the values without line breaks, so that a value never adds lines to a text. */
function entriesOfValues(values: Readonly<Record<string, string>>, secret: boolean): readonly VariableEntry[] {
  return Object.entries(values).map(([name, value]) => [name, { value: value.replaceAll('\n', ''), secret }]);
}

async function readVariableObject(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  source: string,
  { kind, name, optional }: VariableObject,
): Promise<readonly VariableEntry[]> {
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
