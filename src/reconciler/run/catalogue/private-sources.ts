// Finds registry sources with an address in a private network. A run refuses to read such a source unless skep.yaml
// allows the range.

import type { Origin, RegistrySource } from '#contracts/registry/source.ts';
import { cidrContains, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';
import type { Problem } from '#std/problem.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';

/** Private ranges (RFC 1918, 4193, 3927, 4291, 6598) and loopback. */
const PRIVATE = [
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '169.254.0.0/16', '100.64.0.0/10'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
].flatMap((range) => parseCidr(range) ?? []);

/** Host names that no public server has: names inside a cluster or a local network, and single words. */
const INSIDE = /(^|\.)(localhost|local|internal|svc|cluster\.local)$|^[^.]+$/;

/** Returns one warning for each source with a private address. */
export function privateSources(loaded: readonly LoadedResource[]): readonly Problem[] {
  return loaded.flatMap((each) => {
    const { kind, defaulted } = each;
    if (kind === undefined || defaulted === undefined) return [];
    return kind.sources(defaulted).flatMap((source, index): readonly Problem[] => {
      const host = hostOf(source);
      if (host === undefined || !isInside(host.name)) return [];
      const message = `${host.name} is inside a private network: it is not read unless outbound.allowPrivate of skep.yaml names its address`;
      const pointer = `${source.at ?? `/spec/registries/${index}`}/${host.field}`;
      return [problemOf(each, { code: 'source-address-private', severity: 'warning', pointer, message })];
    });
  });
}

function hostOf({ origin }: RegistrySource): { readonly name: string; readonly field: string } | undefined {
  const address = declaredAddress(origin);
  const name = URL.parse(address?.text ?? '')?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return name === '' || address === null ? undefined : { name, field: address.field };
}

function declaredAddress(origin: Origin): { readonly text: string; readonly field: string } | null {
  switch (origin.type) {
    case 'git':
      return { text: origin.repository, field: 'git/repository' };
    case 'api':
      return { text: origin.endpoint, field: 'api/endpoint' };
    case 'url':
      return { text: origin.url, field: 'file/url' };
    case 'configMap':
    case 'claim':
    case 'fleet':
      return null;
  }
}

function isInside(name: string): boolean {
  const ip = parseIp(name);
  return ip === undefined ? INSIDE.test(name) : PRIVATE.some((range) => cidrContains(range, ip));
}
