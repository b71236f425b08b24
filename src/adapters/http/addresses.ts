// Decides to which IP addresses outbound connections are permitted.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { Failure } from '#std/failure.ts';

/** Returns the reason why an address is refused, as a noun phrase; undefined if it is permitted. */
export type AddressGuard = (address: string) => string | undefined;

/**
 * IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates), and multicast (RFC 5771, RFC 4291).
 */
const SPECIAL: readonly (readonly [range: string, what: string])[] = [
  ['0.0.0.0/8', 'an address of "this network"'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', 'a carrier-grade NAT address'],
  ['127.0.0.0/8', 'a loopback address'],
  ['169.254.0.0/16', 'a link-local address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'an address for protocol assignments'],
  ['192.0.2.0/24', 'a documentation address'],
  ['192.88.99.0/24', 'a 6to4 relay address'],
  ['192.168.0.0/16', 'a private address'],
  ['198.18.0.0/15', 'a benchmarking address'],
  ['198.51.100.0/24', 'a documentation address'],
  ['203.0.113.0/24', 'a documentation address'],
  ['224.0.0.0/4', 'a multicast address'],
  ['240.0.0.0/4', 'a reserved address'],
  ['::1/128', 'a loopback address'],
  ['::/128', 'the unspecified address'],
  ['64:ff9b::/96', 'a NAT64 address'],
  ['64:ff9b:1::/48', 'a NAT64 address'],
  ['fc00::/7', 'a unique local address'],
  ['fe80::/10', 'a link-local address'],
  ['fec0::/10', 'a site-local address'],
  ['ff00::/8', 'a multicast address'],
  ['2001::/23', 'an address for protocol assignments'],
  ['2001:db8::/32', 'a documentation address'],
  ['2002::/16', 'a 6to4 address'],
  ['3fff::/20', 'a documentation address'],
  // Global unicast is 2000::/3 (RFC 4291 section 2.4). All other addresses are reserved, including IPv4-compatible
  // addresses.
  ['::/3', 'a reserved address'],
  ['4000::/2', 'a reserved address'],
  ['8000::/1', 'a reserved address'],
];

interface Ranges {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

let special: readonly { readonly ranges: Ranges; readonly what: string }[] | undefined;

/** Creates the ranges at the first check of an address: that takes 5 ms, and most commands check no address. */
function specialRanges(): NonNullable<typeof special> {
  special ??= SPECIAL.map(([range, what]) => ({ ranges: rangesOf([range]), what }));
  return special;
}

/**
 * Creates a guard that refuses private and special addresses outside of the given ranges (CIDR, or single addresses).
 */
export function createAddressGuard(allowPrivate: readonly string[]): AddressGuard {
  const allowed = rangesOf(allowPrivate);
  return function refusal(address) {
    const plain = plainAddress(address);
    if (plain === undefined) return 'no IP address';
    if (contains(allowed, plain)) return undefined;
    return specialRanges().find(({ ranges }) => contains(ranges, plain))?.what;
  };
}

export function anyAddress(): undefined {
  return undefined;
}

function contains(ranges: Ranges, address: string): boolean {
  return isIPv4(address) ? ranges.ipv4.check(address, 'ipv4') : ranges.ipv6.check(address, 'ipv6');
}

/**
 * Returns the address without brackets and zone. An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) becomes its
 * IPv4 address.
 */
function plainAddress(address: string): string | undefined {
  const unbracketed = address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
  const [unzoned = ''] = unbracketed.split('%');
  if (isIPv4(unzoned)) return unzoned;
  if (!isIPv6(unzoned)) return undefined;
  return mappedIPv4(unzoned) ?? unzoned;
}

/** Returns the IPv4 address of a mapped IPv6 address, which the URL parser writes as `::ffff:` and two groups. */
function mappedIPv4(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const prefix = '::ffff:';
  if (!canonical.startsWith(prefix)) return undefined;
  const [high, low, ...rest] = canonical.slice(prefix.length).split(':');
  if (high === undefined || low === undefined || rest.length > 0) return undefined;
  const pairs = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return pairs.flatMap((pair) => [pair >> 8, pair & 0xff]).join('.');
}

/**
 * Creates one list per IP version: a BlockList also matches an IPv4 address by its IPv4-mapped form, so `::/3` would
 * contain every IPv4 address.
 */
function rangesOf(texts: readonly string[]): Ranges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) addRange(ranges, text);
  return ranges;
}

function addRange(ranges: Ranges, text: string): void {
  const [address = '', bits, ...rest] = text.split('/');
  const width = isIPv4(address) ? 32 : 128;
  const prefix = bits === undefined ? width : decimal(bits);
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0 || prefix === undefined || prefix > width) {
    throw new Failure(
      'outbound-invalid-range',
      `"${text}" is neither an IP address nor a CIDR range such as 10.0.0.0/8`,
      {
        data: { range: text },
      },
    );
  }
  const mapped = isIPv6(address) && prefix >= 96 ? mappedIPv4(address) : undefined;
  if (mapped !== undefined) ranges.ipv4.addSubnet(mapped, prefix - 96, 'ipv4');
  else if (width === 32) ranges.ipv4.addSubnet(address, prefix, 'ipv4');
  else ranges.ipv6.addSubnet(address, prefix, 'ipv6');
}

function decimal(text: string): number | undefined {
  const digitsOnly = text !== '' && [...text].every((char) => char >= '0' && char <= '9');
  return digitsOnly ? Number(text) : undefined;
}
