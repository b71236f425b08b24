// Reads and writes IP addresses and networks as Go does.

export interface Ip {
  readonly version: 4 | 6;
  /** The address as one number, most significant byte first. */
  readonly bits: bigint;
}

export interface Cidr {
  readonly ip: Ip;
  readonly prefix: number;
}

interface Leniency {
  /** True if `010.0.0.1` is accepted, as in Go before 1.17. */
  readonly leadingZeros: boolean;
}

const STRICT: Leniency = { leadingZeros: false };

/** Parses IPv4 in four decimal parts, or IPv6 in any of its forms. Zones are not accepted. */
export function parseIp(text: string, leniency = STRICT): Ip | undefined {
  if (!text.includes(':')) {
    const bits = parseDotted(text, leniency);
    return bits === undefined ? undefined : { version: 4, bits };
  }
  const bits = parseGroups(text);
  return bits === undefined ? undefined : { version: 6, bits };
}

function parseDotted(text: string, { leadingZeros }: Leniency): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^[0-9]{1,3}$/.test(part) && !(leadingZeros && /^0*[0-9]{1,3}$/.test(part))) return undefined;
    if (!leadingZeros && part.length > 1 && part.startsWith('0')) return undefined;
    if (Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
}

function parseGroups(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = [splitGroups(halves[0] ?? '', halves.length === 1), splitGroups(halves[1] ?? '', true)];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

/** Splits groups of sixteen bits. If `atEnd`, the last four bytes may be in IPv4 notation. */
function splitGroups(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.') && atEnd && index === parts.length - 1) {
      const dotted = parseDotted(part, STRICT);
      if (dotted === undefined) return undefined;
      groups.push(Number(dotted >> 16n), Number(dotted & 0xffffn));
      continue;
    }
    if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
    groups.push(Number.parseInt(part, 16));
  }
  return groups;
}

export function isMapped({ version, bits }: Ip): boolean {
  return version === 6 && bits >> 32n === 0xffffn;
}

/** Returns the canonical text (RFC 5952). */
export function formatIp(ip: Ip): string {
  const { version, bits } = ip;
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  if (isMapped(ip)) return `::ffff:${formatIp({ version: 4, bits: bits & 0xffffffffn })}`;
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  const { start, length } = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}

export function parseCidr(text: string, leniency = STRICT): Cidr | undefined {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash), leniency);
  const length = text.slice(slash + 1);
  if (ip === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  const prefix = Number(length);
  return prefix <= width(ip) ? { ip, prefix } : undefined;
}

export function formatCidr({ ip, prefix }: Cidr): string {
  return `${formatIp(ip)}/${prefix}`;
}

/** Replaces the address by the first address of the network. */
export function maskCidr({ ip, prefix }: Cidr): Cidr {
  const host = BigInt(width(ip) - prefix);
  return { ip: { ...ip, bits: (ip.bits >> host) << host }, prefix };
}

export function cidrContains({ ip, prefix }: Cidr, other: Ip): boolean {
  if (ip.version !== other.version) return false;
  const host = BigInt(width(ip) - prefix);
  return ip.bits >> host === other.bits >> host;
}

function width({ version }: Ip): number {
  return version === 4 ? 32 : 128;
}
