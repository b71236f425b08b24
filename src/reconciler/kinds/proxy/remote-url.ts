// Finds what is wrong with the URL of a remote MCP server, and with the place that it names.

import { cidrContains, type Ip, isMapped, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';
import type { Finding } from '../kind.ts';

export function remoteUrlFindings(url: string, pointer: string): readonly Finding[] {
  const fault = urlFault(url, pointer.slice(pointer.lastIndexOf('/') + 1));
  return fault === undefined ? [] : [{ code: 'remote-url-invalid', severity: 'error', pointer, message: fault }];
}

function urlFault(text: string, field: string): string | undefined {
  if (!URL.canParse(text)) return `${field} must be a whole URL, such as https://mcp.example.com/mcp`;
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '') {
    return `${field} must not hold credentials, which anyone could read here: use externalAuthConfigRef`;
  }
  return hash === '' ? undefined : `${field} must not hold a fragment, which no request carries`;
}

/** The node itself, link-local addresses with the metadata services of clouds, and unspecified ones. */
const NEVER = ranges('127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10', '0.0.0.0/8', '::/128', 'fd00:ec2::/32');
/** RFC 1918, 4193 and 6598. */
const PRIVATE = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7');

/** Names of the node, of the API server and of metadata services. */
const NEVER_NAMES =
  /^(.+\.)?localhost$|^kubernetes(\.default(\.svc(\.cluster\.local)?)?)?$|^metadata(\.google\.internal)?$/;
const CLUSTER_NAME = /(^|\.)cluster\.local$/;

interface RemotePlace {
  readonly mayBePrivate: boolean;
  readonly pointer: string;
  /** The subject of the request, for the message. */
  readonly caller: string;
}

/** Decides by what is written: a name is not resolved. `url` is a valid URL. */
export function remotePlaceFindings(url: string, { mayBePrivate, pointer, caller }: RemotePlace): readonly Finding[] {
  const host = new URL(url).hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
  const ip = addressIn(host);
  const isIn = (places: readonly Range[]) => ip !== undefined && places.some((range) => cidrContains(range, ip));
  const code = 'remote-url-invalid';
  if (isIn(NEVER) || NEVER_NAMES.test(host)) {
    const message = `${host} is the node itself, a metadata service or the API server: a remote server is never there`;
    return [{ code, severity: 'error', pointer, message }];
  }
  if (mayBePrivate || !(isIn(PRIVATE) || CLUSTER_NAME.test(host))) return [];
  const message = `${host} is inside a private network: set allowPrivateEndpoint to true if ${caller} may call it`;
  return [{ code, severity: 'error', pointer, message }];
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
