// Finds the programs that run in place of images on the machine of `skep dev`: this program for our own image, and the
// programs that the user names for other images. No other program runs.

import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { withoutDigest } from '#std/address/image-name.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import type { ImageRule } from '../config/dev.ts';
import { type OwnProgramOptions, ownProgram } from './own-program.ts';
import type { PackagePrograms } from './package-programs.ts';

export interface ProgramOptions extends OwnProgramOptions {
  /** Images that are this program, in addition to the images of every release. */
  readonly ownImages: readonly string[];
  /** The first matching rule counts. */
  readonly rules: readonly ImageRule[];
  /** Packages of the catalogue. If absent, none may run. */
  readonly packages?: Pick<PackagePrograms, 'find'>;
}

/** Any tag matches, because this machine has only one version. */
const RELEASED = /^(ghcr\.io\/skep-dev\/)?skep[:@]/;

export function findPrograms(options: ProgramOptions): FindProgram {
  const rules = options.rules.flatMap(({ image, command: [program = '', ...args] }) => {
    const glob = parseGlob(image);
    const command: [string, ...string[]] = [program, ...args];
    return glob === undefined ? [] : [{ glob, command }];
  });
  return (container, pod, owners) => {
    const { image } = container;
    // images.verify adds the digest, or the manifest has it.
    const names = [image, withoutDigest(image)];
    const rule = rules.find(({ glob }) => names.some((name) => globMatches(glob, name)));
    if (rule !== undefined) return { command: rule.command };
    if (RELEASED.test(image) || names.some((name) => options.ownImages.includes(name)))
      return ownProgram(options, container, pod, owners);
    if (options.packages !== undefined) return options.packages.find(container);
    return {
      absent: `skep dev has no program for image ${image}: name one in dev.images of skep.yaml, or let packages of the catalogue run with --run npm,pypi`,
    };
  };
}
