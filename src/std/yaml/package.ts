// Loads the package `yaml` on first use, which takes 30 ms. Plain texts are read without the package.

import type { Alias, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { lazyPackage } from '../lazy-package.ts';

export const yamlPackage = lazyPackage<typeof import('yaml')>('yaml');

export function isAlias(node: unknown): node is Alias {
  return yamlPackage().isAlias(node);
}

export function isMap(node: unknown): node is YAMLMap {
  return yamlPackage().isMap(node);
}

export function isScalar(node: unknown): node is Scalar {
  return yamlPackage().isScalar(node);
}

export function isSeq(node: unknown): node is YAMLSeq {
  return yamlPackage().isSeq(node);
}

/** Formats a value as YAML 1.1, in which `"yes"` needs quotes. Does not break long lines, and does not use aliases. */
export function yamlText(value: unknown): string {
  return yamlPackage().stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
