// Checks rules of the registry service's configuration that its schema cannot express: fields that exclude or require
// each other, invalid names, settings without effect.

import type { RegistryConfigFile } from './config.ts';
import { authFindings, type SoundAuth } from './config-auth-rules.ts';
import { type ConfigFinding, error, warning } from './config-finding.ts';
import { type ConfiguredRegistry, duplicateFindings, registryFindings } from './config-source-rules.ts';

/**
 * The file without the parts that do not fit the schema. Invalid entries of lists are undefined, so that indices stay
 * the same.
 */
export interface SoundConfig extends Omit<RegistryConfigFile, 'registries' | 'auth'> {
  readonly registries?: readonly (ConfiguredRegistry | undefined)[];
  readonly auth?: SoundAuth;
}

export function configFindings(file: SoundConfig): readonly ConfigFinding[] {
  const registries = file.registries ?? [];
  return [
    ...registries.flatMap((registry, index) =>
      registry === undefined ? [] : registryFindings(registry, `/registries/${index}`),
    ),
    ...duplicateFindings(registries),
    ...authFindings(file.auth),
    ...listenFindings(file),
    ...effectFindings(file, registries),
  ];
}

function listenFindings({ listen, metrics, limits, outbound }: SoundConfig): readonly ConfigFinding[] {
  const port = listen?.port ?? 8080;
  return [
    ...(metrics?.port === port && port !== 0
      ? [error('registry-config-exclusive', '/metrics/port', 'the registry itself listens on this port')]
      : []),
    ...rangeFindings(limits?.trustedProxies, '/limits/trustedProxies'),
    ...rangeFindings(outbound?.allowPrivate, '/outbound/allowPrivate'),
  ];
}

function rangeFindings(ranges: readonly string[] | undefined, pointer: string): readonly ConfigFinding[] {
  return (ranges ?? []).flatMap((range, index) =>
    isAddressRange(range)
      ? []
      : [error('registry-config-address', `${pointer}/${index}`, `"${range}" is not an address or CIDR range`)],
  );
}

function isAddressRange(range: string): boolean {
  const [address = '', bits] = range.split('/');
  const isV6 = address.includes(':');
  // The URL parser also accepts short forms such as `1.2`, so the number of parts is checked.
  if (!isV6 && address.split('.').length !== 4) return false;
  return URL.canParse(isV6 ? `http://[${address}]/` : `http://${address}/`) && Number(bits ?? 0) <= (isV6 ? 128 : 32);
}

/**
 * Returns true if the registry has no entries in this service. Entries for running servers exist only if a reconciler
 * writes them.
 */
function isServedEmpty({ kubernetes, managed, syncedBy }: ConfiguredRegistry): boolean {
  return managed !== undefined || (kubernetes !== undefined && syncedBy !== 'reconciler');
}

function effectFindings(
  file: SoundConfig,
  registries: readonly (ConfiguredRegistry | undefined)[],
): readonly ConfigFinding[] {
  return [
    ...registries.flatMap((registry, index) =>
      registry === undefined || !isServedEmpty(registry)
        ? []
        : [
            warning(
              'registry-config-no-effect',
              `/registries/${index}`,
              `nothing is read for "${registry.name}"; it is served empty`,
            ),
          ],
    ),
    ...(file.telemetry === undefined ? [] : [warning('registry-config-no-effect', '/telemetry', 'has no effect')]),
    ...(file.database?.maxMetaSize === undefined
      ? []
      : [warning('registry-config-no-effect', '/database/maxMetaSize', 'has no effect')]),
  ];
}
