// Which package of npm or PyPI an image is as well, as entries say that name both.

import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { imagesOf } from './entry.ts';

export const PACKAGE_TYPES = ['npm', 'pypi'] as const;
export type PackageType = (typeof PACKAGE_TYPES)[number];

/** Of an exact version, from the public registry of its type. */
export interface ExactPackage {
  readonly type: PackageType;
  readonly name: string;
  readonly version: string;
  /** What it speaks: `stdio`, `streamable-http`, `sse`. */
  readonly transport: string;
  /** What it is started with where no one says otherwise; undefined: something that only its user knows is among it. */
  readonly args: readonly string[] | undefined;
}

const NAMES: Readonly<Record<PackageType, RegExp>> = {
  npm: /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/,
  pypi: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
};

/** No range, tag, URL or option: semver.org, and PEP 440 as far as it has no wildcards. */
const VERSIONS: Readonly<Record<PackageType, RegExp>> = {
  npm: /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
  pypi: /^(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[0-9A-Za-z.]+)?$/,
};

const REGISTRIES: Readonly<Record<PackageType, RegExp>> = {
  npm: /^https:\/\/registry\.npmjs\.org\/?$/,
  pypi: /^https:\/\/pypi\.org(\/simple)?\/?$/,
};

/** By image, as pods may name it. Different packages of one type for one image are all there: no one can say which is meant. */
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

/** Words for whatever starts the package, which may choose another program: but for a yes no one types them. */
function needsOptions({ runtimeArguments }: JsonObject): boolean {
  return objectsIn(runtimeArguments).some(({ name, value }) => !['-y', '--yes'].includes(String(name ?? value)));
}

/** Undefined: it is required and has no value that the document fixes. */
function fixedWords({ type, name, value, default: fallback, isRequired, variables }: JsonObject): string[] | undefined {
  const text = value ?? fallback;
  const isBlank = text === undefined || (isObject(variables) && /\{[^{}]+\}/.test(String(text)));
  const isFlag = type === 'named' && typeof name === 'string';
  if (isBlank) return isRequired === true || text !== undefined ? undefined : [];
  if (!isFlag) return [String(text)];
  return text === '' ? [name] : [name, String(text)];
}
