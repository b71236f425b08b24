// Collects the variables of a source: values of skep.yaml, and of ConfigMaps and Secrets in the home namespace.

import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import type { Cluster } from '../../ports.ts';

/** `substitute` of a source in skep.yaml. */
export interface Substitution {
  /** Values that take precedence over the values of `from`. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** Objects with values; later ones take precedence over earlier ones. */
  readonly from: readonly VariableObject[];
}

interface VariableObject {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  /** True if it may be missing. */
  readonly optional: boolean;
}

interface Variable {
  readonly value: string;
  /** True if its value comes from a Secret: then only Secrets may contain it. */
  readonly secret: boolean;
}

export interface Variables {
  /** Name of the source. */
  readonly source: string;
  readonly values: ReadonlyMap<string, Variable>;
  /** Objects that were to be read, as messages name them. */
  readonly from: readonly string[];
  /** False if there is no cluster here to read `from` in, so that a name without a value may have one. */
  readonly complete: boolean;
  /** True if no name has a value here, and no default is used. Every expression stays as it is written. */
  readonly literal?: true;
  /** Equal digests mean equal values. It stays in memory, as the values of Secrets are a part of it. */
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

/** For use if nothing is known about the values: texts with expressions are compared, and never checked. */
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

/** Removes line breaks, because a value must not add lines to a text. */
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
