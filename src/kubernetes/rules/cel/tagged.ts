// Declares the values of Kubernetes' CEL types for which JavaScript has no type.

import type { Cidr, Ip } from '../formats/ip.ts';
import type { Quantity } from '../formats/quantity.ts';
import type { GoUrl } from '../formats/url.ts';

/** Creates a separate class for each type, because the engine distinguishes types by their constructor. */
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
  /** Parts of the pre-release without the hyphen. Empty for a release. */
  readonly prerelease: readonly string[];
}

export const CelSemver = taggedType<Semver>();
export type CelSemver = InstanceType<typeof CelSemver>;

/** A named format. The value is a function that returns the faults of a text: none if the text has the format. */
export const CelFormat = taggedType<(text: string) => readonly string[]>();
export type CelFormat = InstanceType<typeof CelFormat>;
