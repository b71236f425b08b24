// Finds the npm or PyPI package of an image, by entries that name the image and the package.

import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { imagesOf } from './entry.ts';

export const PACKAGE_TYPES = ['npm', 'pypi'] as const;
export type PackageType = (typeof PACKAGE_TYPES)[number];

/** An exact version of a package in the public registry of its type. */
export interface ExactPackage {
  readonly type: PackageType;
  readonly name: string;
  readonly version: string;
  /** Transport: `stdio`, `streamable-http` or `sse`. */
  readonly transport: string;
  /** Default arguments. undefined if an argument needs a value from the user. */
  readonly args: readonly string[] | undefined;
}

const NAMES: Readonly<Record<PackageType, RegExp>> = {
  npm: /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/,
  pypi: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
};

/** Exact versions (semver.org, PEP 440), not ranges, tags, URLs or options. */
const VERSIONS: Readonly<Record<PackageType, RegExp>> = {
  npm: /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
  pypi: /^(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[0-9A-Za-z.]+)?$/,
};

const REGISTRIES: Readonly<Record<PackageType, RegExp>> = {
  npm: /^https:\/\/registry\.npmjs\.org\/?$/,
  pypi: /^https:\/\/pypi\.org(\/simple)?\/?$/,
};

/**
 * Returns packages by the image names that pods may use. Entries may name different packages for one image: then the
 * list contains all of them.
 */
export function packagesByImage(documents: readonly JsonObject[]): ReadonlyMap<string, readonly ExactPackage[]> {
  const found = new Map<string, ReadonlyMap<string, ExactPackage>>();
  for (const document of documents) {
    const packages = objectsIn(document.packages);
    const exact = packages.flatMap(exactPackage);
    for (const image of exact.length === 0 ? [] : packages.flatMap(imagesOf)) {
      const more = exact.map((each) => [JSON.stringify(each), each] as const);
      found.set(image, new Map([...(found.get(image) ?? []), ...more]));
    }
  }
  return new Map([...found].map(([image, packages]) => [image, [...packages.values()]]));
}

function exactPackage(pkg: JsonObject): readonly ExactPackage[] {
  const { registryType, registryBaseUrl, identifier: name, version, transport, packageArguments } = pkg;
  const type = PACKAGE_TYPES.find((each) => each === registryType);
  if (type === undefined || typeof name !== 'string' || typeof version !== 'string') return [];
  if (!NAMES[type].test(name) || !VERSIONS[type].test(version) || needsOptions(pkg)) return [];
  if (typeof registryBaseUrl === 'string' && !REGISTRIES[type].test(registryBaseUrl)) return [];
  const spoken = isObject(transport) && typeof transport.type === 'string' ? transport.type : 'stdio';
  const words = objectsIn(packageArguments).map(fixedWords);
  const args = words.some((each) => each === undefined) ? undefined : words.flatMap((each) => each ?? []);
  return [{ type, name, version, transport: spoken, args }];
}

/** Returns whether the package needs arguments for its runtime, which may run another program. `--yes` is ignored. */
function needsOptions({ runtimeArguments }: JsonObject): boolean {
  return objectsIn(runtimeArguments).some(({ name, value }) => !['-y', '--yes'].includes(String(name ?? value)));
}

/** Returns the words of an argument. Returns undefined if the argument is required and its value is not fixed. */
function fixedWords({ type, name, value, default: fallback, isRequired, variables }: JsonObject): string[] | undefined {
  const text = value ?? fallback;
  const isBlank = text === undefined || (isObject(variables) && /\{[^{}]+\}/.test(String(text)));
  const isFlag = type === 'named' && typeof name === 'string';
  if (isBlank) return isRequired === true || text !== undefined ? undefined : [];
  if (!isFlag) return [String(text)];
  return text === '' ? [name] : [name, String(text)];
}
