// The values of Kubernetes' CEL types that JavaScript has none for. The engine tells types apart by constructor, so each
// is a class; none has behaviour. Knows nothing about functions.

import type { Cidr, Ip } from '../formats/ip.ts';
import type { Quantity } from '../formats/quantity.ts';
import type { GoUrl } from '../formats/url.ts';

export class CelDuration {
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

export class CelTimestamp {
  /** Since 1970. */
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

export class CelQuantity {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

export class CelUrl {
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    this.url = url;
  }
}

export class CelIp {
  readonly ip: Ip;

  constructor(ip: Ip) {
    this.ip = ip;
  }
}

export class CelCidr {
  readonly cidr: Cidr;

  constructor(cidr: Cidr) {
    this.cidr = cidr;
  }
}

export class CelSemver {
  readonly numbers: readonly [bigint, bigint, bigint];
  /** Without the hyphen; empty for a release. */
  readonly prerelease: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
}

export class CelFormat {
  /** What is wrong with a text; empty where it is in the format. */
  readonly faults: (text: string) => readonly string[];

  constructor(faults: (text: string) => readonly string[]) {
    this.faults = faults;
  }
}

/** The left side of functions such as `sets.contains`. */
export class CelNamespace {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
