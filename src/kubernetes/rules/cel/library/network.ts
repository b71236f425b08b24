// Implements IP addresses, networks and URLs. Source: Kubernetes CEL, "Kubernetes IP address library", "CIDR library",
// "URL library".

import {
  cidrContains,
  formatCidr,
  formatIp,
  type Ip,
  isMapped,
  maskCidr,
  parseCidr,
  parseIp,
} from '../../formats/ip.ts';
import { parseGoUrl } from '../../formats/url.ts';
import { equals } from '../equality.ts';
import { CelCidr, CelIp, CelUrl, taggedType } from '../tagged.ts';
import { fail, type Library, OURS } from './library.ts';

/** Receiver of `ip.isCanonical`. */
const IpFunctions = taggedType<string>();

export const NETWORK_LIBRARY: Library = {
  types: { 'net.IP': CelIp, 'net.CIDR': CelCidr, 'kubernetes.URL': CelUrl, ipfunctions: IpFunctions },
  constants: { ip: ['ipfunctions', new IpFunctions('ip')] },
  functions: {
    'ip(string): net.IP': (text: string) => new CelIp(ipOf(text)),
    'isIP(string): bool': (text: string) => usableIp(text) !== undefined,
    'ipfunctions.isCanonical(string): bool': (_: unknown, text: string) => formatIp(ipOf(text)) === text,
    'net.IP.family(): int': ({ value: ip }: CelIp) => BigInt(ip.version),
    'net.IP.isUnspecified(): bool': ({ value: ip }: CelIp) => ip.bits === 0n,
    'net.IP.isLoopback(): bool': ({ value: ip }: CelIp) => within(ip, '127.0.0.0/8', '::1/128'),
    'net.IP.isLinkLocalMulticast(): bool': ({ value: ip }: CelIp) => within(ip, '224.0.0.0/24', 'ff02::/16'),
    'net.IP.isLinkLocalUnicast(): bool': ({ value: ip }: CelIp) => within(ip, '169.254.0.0/16', 'fe80::/10'),
    'net.IP.isGlobalUnicast(): bool': ({ value: ip }: CelIp) => isGlobalUnicast(ip),
    [`string${OURS}(net.IP): string`]: ({ value: ip }: CelIp) => formatIp(ip),
    'cidr(string): net.CIDR': (text: string) => cidrOf(text),
    'isCIDR(string): bool': (text: string) => usableCidr(text) !== undefined,
    'net.CIDR.containsIP(string): bool': ({ value: cidr }: CelCidr, text: string) => cidrContains(cidr, ipOf(text)),
    'net.CIDR.containsIP(net.IP): bool': ({ value: cidr }: CelCidr, { value: ip }: CelIp) => cidrContains(cidr, ip),
    'net.CIDR.containsCIDR(string): bool': (outer: CelCidr, text: string) => containsCidr(outer, cidrOf(text)),
    'net.CIDR.containsCIDR(net.CIDR): bool': containsCidr,
    'net.CIDR.ip(): net.IP': ({ value: cidr }: CelCidr) => new CelIp(cidr.ip),
    'net.CIDR.prefixLength(): int': ({ value: cidr }: CelCidr) => BigInt(cidr.prefix),
    'net.CIDR.masked(): net.CIDR': ({ value: cidr }: CelCidr) => new CelCidr(maskCidr(cidr)),
    [`string${OURS}(net.CIDR): string`]: ({ value: cidr }: CelCidr) => formatCidr(cidr),
    'url(string): kubernetes.URL': urlOf,
    'isURL(string): bool': (text: string) => parseGoUrl(text) !== undefined,
    'kubernetes.URL.getScheme(): string': ({ value: url }: CelUrl) => url.scheme,
    'kubernetes.URL.getHost(): string': ({ value: url }: CelUrl) => url.host,
    'kubernetes.URL.getHostname(): string': ({ value: url }: CelUrl) => url.hostname,
    'kubernetes.URL.getPort(): string': ({ value: url }: CelUrl) => url.port,
    'kubernetes.URL.getEscapedPath(): string': ({ value: url }: CelUrl) => url.escapedPath,
    'kubernetes.URL.getQuery(): map<string, list<string>>': ({ value: url }: CelUrl) => new Map(url.query),
  },
  operators: {
    'net.IP == net.IP': equals,
    'net.CIDR == net.CIDR': equals,
    'kubernetes.URL == kubernetes.URL': (a: CelUrl, b: CelUrl) => JSON.stringify(a.value) === JSON.stringify(b.value),
  },
};

/** Parses an IP address. As in Kubernetes, an IPv4 address in IPv6 form is refused. */
function usableIp(text: string): Ip | undefined {
  const ip = parseIp(text);
  return ip === undefined || isMapped(ip) ? undefined : ip;
}

function ipOf(text: string): Ip {
  return usableIp(text) ?? fail(`IP Address "${text}" parse error during conversion from string`);
}

function usableCidr(text: string): CelCidr | undefined {
  const cidr = parseCidr(text);
  return cidr === undefined || isMapped(cidr.ip) ? undefined : new CelCidr(cidr);
}

function cidrOf(text: string): CelCidr {
  return usableCidr(text) ?? fail('network address parse error during conversion from string');
}

function urlOf(text: string): CelUrl {
  const url = parseGoUrl(text);
  return url === undefined ? fail('URL parse error during conversion from string') : new CelUrl(url);
}

function within(ip: Ip, ...networks: readonly string[]): boolean {
  return networks.some((network) => {
    const cidr = parseCidr(network);
    return cidr !== undefined && cidrContains(cidr, ip);
  });
}

function isGlobalUnicast(ip: Ip): boolean {
  if (ip.bits === 0n || (ip.version === 4 && ip.bits === 0xffffffffn)) return false;
  return !within(ip, '127.0.0.0/8', '::1/128', '224.0.0.0/4', 'ff00::/8', '169.254.0.0/16', 'fe80::/10');
}

function containsCidr({ value: outer }: CelCidr, { value: inner }: CelCidr): boolean {
  return outer.prefix <= inner.prefix && cidrContains(outer, inner.ip);
}
