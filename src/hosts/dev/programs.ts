// Finds the programs that stand for images on the machine of `skep dev`: this very program for our own image, and those that the
// user names for others. Nothing else runs.

import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { withoutDigest } from '#std/address/image-name.ts';
import { globMatches, parseGlob } from '#std/glob.ts';
import type { ImageRule } from '../config/dev.ts';
import { type OwnProgramOptions, ownProgram } from './own-program.ts';
import type { PackagePrograms } from './package-programs.ts';

export interface ProgramOptions extends OwnProgramOptions {
  /** Images that are this program, beside those of every release. */
  readonly ownImages: readonly string[];
  /** The first that fits counts. */
  readonly rules: readonly ImageRule[];
  /** Of the catalogue; absent: none may run. */
  readonly packages?: Pick<PackagePrograms, 'find'>;
}

/** Whatever its tag says, there is one version on this machine. */
const RELEASED = /^(ghcr\.io\/skep-dev\/)?skep[:@]/;

export function findPrograms(options: ProgramOptions): FindProgram {
  const rules = options.rules.flatMap(({ image, command: [program = '', ...args] }) => {
    const glob = parseGlob(image);
    const command: [string, ...string[]] = [program, ...args];
    return glob === undefined ? [] : [{ glob, command }];
  });
  return (container, pod, owners) => {
    const { image } = container;
    // images.verify adds the digest, and a manifest may pin it.
    const names = [image, withoutDigest(image)];
    const rule = rules.find(({ glob }) => names.some((name) => globMatches(glob, name)));
    if (rule !== undefined) return { command: rule.command };
    if (RELEASED.test(image) || names.some((name) => options.ownImages.includes(name)))
      return ownProgram(options, container, pod, owners);
    if (options.packages !== undefined) return options.packages.find(container);
    return {
      absent: `skep dev knows no program for image ${image}: name one in dev.images of skep.yaml, or let packages of the catalogue run with --run npm,pypi`,
    };
  };
}
