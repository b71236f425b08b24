// Empties the catalogue of a registry that is deleted.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import type { Kind, Resource, View } from '../../kinds/kind.ts';
import type { RegistryDeps } from './registries.ts';

/** Failure codes if no database is configured, or if the Secret with the database password no longer exists. */
const NO_WAY: readonly string[] = ['catalogue-not-configured', 'source-auth-required'];

interface Departure {
  readonly object: KubeObject;
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly view: View;
}

/**
 * Empties the catalogue of a deleted registry. Throws Failure if the store cannot be reached. Does nothing if the
 * instance no longer has the address or the password of the store.
 */
export async function emptyCatalogue(
  { registries }: { readonly registries?: RegistryDeps },
  { object, kinds, apiGroup, view }: Departure,
): Promise<void> {
  const { name, namespace = '' } = object.metadata;
  const kind = kinds.find((each) => each.kind === object.kind && groupOf(object.apiVersion) === apiGroup);
  if (registries === undefined || kind === undefined || !isObject(object.spec)) return;
  const resource: Resource = { ...object, spec: object.spec };
  if (kind.sources(resource).length === 0) return;
  try {
    const writer = await registries.storeFor(kind, resource, view, 'sync');
    await writer.retain({ namespace, registry: name }, []);
  } catch (failure) {
    if (!(failure instanceof Failure) || !NO_WAY.includes(failure.code)) throw failure;
  }
}
