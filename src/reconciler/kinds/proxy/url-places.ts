// Decides by a URL's text whether it leads into a private network, or to a host that no resource may name.

import { cidrContains, type Ip, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';

/**
 * Addresses of the node itself, unspecified addresses, and addresses of metadata services: link-local addresses and
 * addresses of some clouds.
 */
const NEVER = ranges(
  ...['127.0.0.0/8', '169.254.0.0/16', 'fe80::/10', '0.0.0.0/8'],
  ...['fd00:ec2::/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
);
/** Private addresses (RFC 1918, 3879, 4193 and 6598). */
const PRIVATE = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10');

/** Names of the node, of the API server and of metadata services. */
const NEVER_NAMES =
  /^(.+\.)?localhost$|^kubernetes(\.default(\.svc(\.cluster\.local)?)?)?$|^metadata(\.google\.internal|\.goog)?$/;
const CLUSTER_NAME = /(^|\.)cluster\.local$/;

interface UrlPlace {
  readonly host: string;
  /** Place that the text of the host shows; undefined if the host may be on the public internet. */
  readonly place: 'never' | 'private' | undefined;
}

/** Decides by the text of the host only, and does not resolve names. */
export function placeOfUrl(url: string): UrlPlace {
  const host = new URL(url).hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
  const ip = addressIn(host);
  const isIn = (places: readonly Range[]) => ip !== undefined && places.some((range) => cidrContains(range, ip));
  if (isIn(NEVER) || NEVER_NAMES.test(host)) return { host, place: 'never' };
  return { host, place: isIn(PRIVATE) || CLUSTER_NAME.test(host) ? 'private' : undefined };
}

/** IPv6 prefixes of 96 bits that precede an IPv4 address (RFC 4291 section 2.5.5, RFC 6052 section 2.1). */
const BEFORE_IPV4: ReadonlySet<bigint> = new Set([0n, 0xffffn, 0x64_ff9b_0000_0000_0000_0000n]);

/** Returns the IP address of a host. An IPv4 address inside an IPv6 address is returned as an IPv4 address. */
function addressIn(host: string): Ip | undefined {
  const ip = parseIp(host);
  const isInside = ip?.version === 6 && BEFORE_IPV4.has(ip.bits >> 32n);
  return isInside ? { version: 4, bits: ip.bits & 0xffff_ffffn } : ip;
}

type Range = NonNullable<ReturnType<typeof parseCidr>>;

function ranges(...texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}
