// Lists the references of an MCPRegistry: ConfigMaps, Secrets, claims. For a reference with `waited`, Kubernetes delays
// the start of a pod until the object exists. Database passwords are required, because a child is rendered from them.

import type { KindSettings, ObjectName, Reference } from '../kind.ts';
import { pullSecretReferences } from '../pods/pull-secrets.ts';
import { registryAnnotations } from './annotations.ts';
import type { Database, EffectiveEntry, EffectiveProvider, EffectiveRegistry } from './facts.ts';
import { PASSWORD_FIELDS } from './pgpass.ts';
import { volumeReferences } from './volumes.ts';

interface Selector {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export function references(self: EffectiveRegistry): readonly Reference[] {
  const { spec } = self;
  const { databaseConfig, authConfig } = spec;
  const { databaseCA } = registryAnnotations(self);
  return [
    ...spec.registries.flatMap((entry, index) => entryReferences(entry, `/spec/registries/${index}`)),
    ...passwordReferences(databaseConfig?.passwords),
    ...volumeReferences(spec),
    ...selected('ConfigMap', '/metadata/annotations/skep.dev~1database-ca', databaseCA),
    ...pullSecretReferences(spec.imagePullSecrets, '/spec/imagePullSecrets'),
    ...(authConfig?.oauth?.providers ?? []).flatMap((provider, index) =>
      providerReferences(provider, `/spec/authConfig/oauth/providers/${index}`),
    ),
  ];
}

/** Returns the objects that skep.yaml names for registries that declare no database. */
export function configured(
  { spec }: EffectiveRegistry,
  { catalogueDatabase }: Pick<KindSettings, 'catalogueDatabase'>,
): readonly ObjectName[] {
  const { passFileSecret, caConfigMap } = catalogueDatabase?.services ?? {};
  if (spec.databaseConfig !== undefined) return [];
  return [
    ...(passFileSecret === undefined ? [] : [{ apiVersion: 'v1', kind: 'Secret', name: passFileSecret.name }]),
    ...(caConfigMap === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name: caConfigMap.name }]),
  ];
}

function entryReferences(
  { configMapRef, git, pvcRef, mountedAt }: EffectiveEntry,
  pointer: string,
): readonly Reference[] {
  return [
    ...selected('ConfigMap', `${pointer}/configMapRef`, configMapRef),
    ...waitedFor('Secret', `${pointer}/git/auth/passwordSecretRef`, git?.auth?.passwordSecretRef),
    // The author's volume already references the claim.
    ...(pvcRef === undefined || mountedAt !== undefined
      ? []
      : [
          {
            pointer: `${pointer}/pvcRef/claimName`,
            kind: 'PersistentVolumeClaim',
            name: pvcRef.claimName,
            optional: 'waited' as const,
          },
        ]),
  ];
}

function providerReferences(provider: EffectiveProvider, pointer: string): readonly Reference[] {
  return [
    ...waitedFor('Secret', `${pointer}/clientSecretRef`, provider.clientSecretRef),
    ...waitedFor('Secret', `${pointer}/authTokenRef`, provider.authTokenRef),
    ...selected('ConfigMap', `${pointer}/caCertRef`, provider.caCertRef),
  ];
}

function selected(kind: string, pointer: string, selector: Selector | undefined): readonly Reference[] {
  if (selector === undefined) return [];
  const { name, key, optional } = selector;
  return [{ pointer, kind, name, key, optional: optional === true ? 'allowed' : undefined }];
}

function waitedFor(kind: string, pointer: string, selector: Selector | undefined): readonly Reference[] {
  return selected(kind, pointer, selector).map((reference) => ({
    ...reference,
    optional: reference.optional ?? 'waited',
  }));
}

function passwordReferences(passwords: Database['passwords'] | undefined): readonly Reference[] {
  if (passwords === undefined) return [];
  if ('file' in passwords) return selected('Secret', '/spec/pgpassSecretRef', withoutOptional(passwords.file));
  return (['app', 'migration'] as const).flatMap((whose) =>
    selected('Secret', `/spec/databaseConfig/${PASSWORD_FIELDS[whose]}`, withoutOptional(passwords[whose])),
  );
}

function withoutOptional(selector: Selector | undefined): Selector | undefined {
  return selector === undefined ? undefined : { name: selector.name, key: selector.key };
}
