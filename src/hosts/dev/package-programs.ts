// Finds the npm or PyPI package that may run in place of an image. The user must allow the package's type, and an entry
// of the catalogue must name both the image and the package.

import type { Container } from '#kubernetes/devcluster/node/objects.ts';
import type { ImageProgram, NotHere } from '#kubernetes/devcluster/node/ports.ts';
import { type ExactPackage, type PackageType, packagesByImage } from '#registry/catalogue/packages.ts';
import { withoutDigest } from '#std/address/image-name.ts';
import type { JsonObject } from '#std/json.ts';
import type { Installer } from './package-install.ts';

export interface PackagePrograms {
  /**
   * Returns the program, or the reason why no program was found. The reason is empty while the catalogue has not been
   * read.
   */
  find(container: Container): ImageProgram | NotHere;
  /**
   * Replaces the known packages by the packages in these entries of the catalogue. Returns true if a program has
   * changed.
   */
  take(documents: readonly JsonObject[]): boolean;
}

interface Chosen {
  readonly pkg: ExactPackage;
  /** Arguments for a container that declares none. */
  readonly words: readonly string[];
}

/**
 * `run`: types of packages that may run. If an image has packages of several types, the first type in `run` is used.
 */
export function openPackagePrograms(run: readonly PackageType[], installer: Installer): PackagePrograms {
  let known: ReadonlyMap<string, readonly ExactPackage[]> | undefined;

  function choose(container: Container): Chosen | NotHere {
    if (known === undefined) return { absent: '' };
    const packages = known.get(container.image) ?? known.get(withoutDigest(container.image)) ?? [];
    const type = run.find((each) => packages.some((pkg) => pkg.type === each));
    const [pkg, ...others] = packages.filter((each) => each.type === type);
    if (pkg === undefined) return { absent: noneText(container.image, run) };
    const fault = installer.fault(pkg.type) ?? whyUnfit(container, pkg, others);
    if (fault !== undefined) return { absent: `${container.image} does not run on this machine: ${fault}` };
    return { pkg, words: (container.args ?? []).length > 0 ? [] : (pkg.args ?? []) };
  }

  return {
    find(container) {
      const first = choose(container);
      if ('absent' in first) return first;
      return {
        // Chooses again, because the catalogue may have changed since the first start of the container.
        command: async (runToEnd) => {
          const latest = choose(container);
          const { pkg, words } = 'absent' in latest ? first : latest;
          return [await installer.install(pkg, runToEnd), ...words];
        },
      };
    },
    take(documents) {
      const before = known && JSON.stringify([...known]);
      known = packagesByImage(documents);
      return JSON.stringify([...known]) !== before;
    },
  };
}

function noneText(image: string, run: readonly PackageType[]): string {
  const none = `no entry of the catalogue names a package of an exact version for it (--run ${run.join(',')})`;
  return `skep dev has no program for image ${image}: ${none}, and dev.images of skep.yaml has no glob for it`;
}

/** Returns the reason why the package cannot replace the container's image; undefined if it can. */
function whyUnfit(container: Container, pkg: ExactPackage, others: readonly ExactPackage[]): string | undefined {
  const name = nameOfPackage(pkg);
  if (others.length > 0) {
    return `entries of the catalogue name different packages for the image: ${[pkg, ...others].map(nameOfPackage).join(', ')}`;
  }
  const spoken = transportOf(container);
  if (pkg.transport !== spoken)
    return `the package ${name} speaks ${pkg.transport}, but the server is declared as ${spoken}`;
  if (pkg.args === undefined && (container.args ?? []).length === 0) {
    return `the package ${name} needs arguments that its entry leaves open: set spec.args`;
  }
  return undefined;
}

function nameOfPackage({ type, name, version }: ExactPackage): string {
  return type === 'npm' ? `${name}@${version}` : `${name}==${version}`;
}

/** Returns the transport that the container's MCPServer declares. */
function transportOf({ stdin, env = [] }: Container): string {
  if (stdin === true) return 'stdio';
  return env.find(({ name }) => name === 'MCP_TRANSPORT')?.value ?? 'nothing known';
}
