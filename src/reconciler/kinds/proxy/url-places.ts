// Says whether a URL names a place inside a private network, or one that no resource may name.

import { cidrContains, type Ip, isMapped, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';

/** The node itself, link-local addresses with the metadata services of clouds, and unspecified ones. */
const NEVER = ranges('127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10', '0.0.0.0/8', '::/128', 'fd00:ec2::/32');
/** RFC 1918, 4193 and 6598. */
const PRIVATE = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7');

/** Names of the node, of the API server and of metadata services. */
const NEVER_NAMES =
  /^(.+\.)?localhost$|^kubernetes(\.default(\.svc(\.cluster\.local)?)?)?$|^metadata(\.google\.internal)?$/;
const CLUSTER_NAME = /(^|\.)cluster\.local$/;

interface UrlPlace {
  readonly host: string;
  /** Undefined: a place on the internet, as far as the text says. */
  readonly place: 'never' | 'private' | undefined;
}

/** By what is written: a name is not resolved. */
export function placeOfUrl(url: string): UrlPlace {
  const host = new URL(url).hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
  const ip = addressIn(host);
  const isIn = (places: readonly Range[]) => ip !== undefined && places.some((range) => cidrContains(range, ip));
  if (isIn(NEVER) || NEVER_NAMES.test(host)) return { host, place: 'never' };
  return { host, place: isIn(PRIVATE) || CLUSTER_NAME.test(host) ? 'private' : undefined };
}

/** An address of IPv4 that is written as one of IPv6 counts as itself (RFC 4291 section 2.5.5.2). */
function addressIn(host: string): Ip | undefined {
  const ip = parseIp(host);
  return ip !== undefined && isMapped(ip) ? { version: 4, bits: ip.bits & 0xffff_ffffn } : ip;
}

type Range = NonNullable<ReturnType<typeof parseCidr>>;

function ranges(...texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}
