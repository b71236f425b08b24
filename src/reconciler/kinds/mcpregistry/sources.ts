// Lists the sources of an MCPRegistry for the sync of the catalogue.

import type { Filter, Origin, RegistrySource } from '#contracts/registry/source.ts';
import { parseDuration } from '#std/duration.ts';
import { registryAnnotations } from './annotations.ts';
import type { EffectiveEntry, EffectiveRegistry } from './facts.ts';
import { formatOf } from './server-config.ts';

export function sources(self: EffectiveRegistry): readonly RegistrySource[] {
  const declared = self.spec.registries.map((entry) => {
    const intervalMs = entry.syncPolicy === undefined ? undefined : parseDuration(entry.syncPolicy.interval);
    return {
      name: entry.name,
      format: formatOf(entry),
      origin: originOf(entry, self.namespace),
      intervalMs,
      filter: filterOf(entry),
      at: entry.at,
    };
  });
  return [...declared, ...fleetSource(self)];
}

function fleetSource(self: EffectiveRegistry): readonly RegistrySource[] {
  const { fleet: name, fleetNamespaces: namespaces = [self.namespace] } = registryAnnotations(self);
  if (name === undefined) return [];
  return [{ name, format: 'upstream', origin: { type: 'fleet', namespaces }, filter: filterOf({}) }];
}

function originOf({ git, api, configMapRef, pvcRef, file, running }: EffectiveEntry, namespace: string): Origin {
  if (git !== undefined) {
    const { auth, ...rest } = git;
    if (auth === undefined) return { type: 'git', ...rest };
    return {
      type: 'git',
      ...rest,
      auth: { username: auth.username, passwordSecretRef: plainRef(auth.passwordSecretRef) },
    };
  }
  if (api !== undefined) return { type: 'api', endpoint: api.endpoint };
  if (configMapRef !== undefined) return { type: 'configMap', ...plainRef(configMapRef) };
  if (file !== undefined) return { type: 'url', ...file };
  if (running !== undefined) {
    const { namespaces } = running;
    return { type: 'fleet', namespaces: namespaces.length === 0 ? [namespace] : namespaces };
  }
  const { claimName = '', path = 'registry.json' } = pvcRef ?? {};
  return { type: 'claim', claimName, path };
}

/** Leaves out `optional: false`, which is the default. */
function plainRef({ name, key, optional }: NonNullable<EffectiveEntry['configMapRef']>) {
  return optional === true ? { name, key, optional } : { name, key };
}

function filterOf({ filter }: Pick<EffectiveEntry, 'filter'>): Filter {
  const { names, tags } = filter ?? {};
  return {
    names: { include: names?.include ?? [], exclude: names?.exclude ?? [] },
    tags: { include: tags?.include ?? [], exclude: tags?.exclude ?? [] },
  };
}
