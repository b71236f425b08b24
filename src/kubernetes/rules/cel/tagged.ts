// The values of Kubernetes' CEL types that JavaScript has none for.

import type { Cidr, Ip } from '../formats/ip.ts';
import type { Quantity } from '../formats/quantity.ts';
import type { GoUrl } from '../formats/url.ts';

/** The engine tells types apart by their constructor: this makes one that nothing else has. */
export function taggedType<Value>(): new (value: Value) => { readonly value: Value } {
  return class {
    readonly value: Value;

    constructor(value: Value) {
      this.value = value;
    }
  };
}

/** Nanoseconds. */
export const CelDuration = taggedType<bigint>();
export type CelDuration = InstanceType<typeof CelDuration>;

/** Nanoseconds since 1970. */
export const CelTimestamp = taggedType<bigint>();
export type CelTimestamp = InstanceType<typeof CelTimestamp>;

export const CelQuantity = taggedType<Quantity>();
export type CelQuantity = InstanceType<typeof CelQuantity>;

export const CelUrl = taggedType<GoUrl>();
export type CelUrl = InstanceType<typeof CelUrl>;

export const CelIp = taggedType<Ip>();
export type CelIp = InstanceType<typeof CelIp>;

export const CelCidr = taggedType<Cidr>();
export type CelCidr = InstanceType<typeof CelCidr>;

export interface Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  /** Without the hyphen; empty for a release. */
  readonly prerelease: readonly string[];
}

export const CelSemver = taggedType<Semver>();
export type CelSemver = InstanceType<typeof CelSemver>;

/** What is wrong with a text; empty where it is in the format. */
export const CelFormat = taggedType<(text: string) => readonly string[]>();
export type CelFormat = InstanceType<typeof CelFormat>;
