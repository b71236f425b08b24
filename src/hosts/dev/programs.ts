// Finds the programs that `skep dev` runs in place of images: this program for skep's own image, and programs that the
// user allows for other images.

import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { withoutDigest } from '#std/address/image-name.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import type { ImageRule } from '../config/dev.ts';
import { type OwnProgramOptions, ownProgram } from './own-program.ts';
import type { PackagePrograms } from './package-programs.ts';

export interface ProgramOptions extends OwnProgramOptions {
  /** Names of images that this program replaces, in addition to the names of released images. */
  readonly ownImages: readonly string[];
  /** Rules in order. The first matching rule applies. */
  readonly rules: readonly ImageRule[];
  /** Packages of the catalogue. If not set, no package runs. */
  readonly packages?: Pick<PackagePrograms, 'find'>;
}

/** Names of released images, with any tag: this machine has only one version. */
const RELEASED = /^(ghcr\.io\/skep-dev\/)?skep[:@]/;

export function findPrograms(options: ProgramOptions): FindProgram {
  const rules = options.rules.flatMap(({ image, command: [program = '', ...args] }) => {
    const glob = parseGlob(image);
    const command: [string, ...string[]] = [program, ...args];
    return glob === undefined ? [] : [{ glob, command }];
  });
  return (container, pod, owners) => {
    const { image } = container;
    // The image may have a digest from the manifest or from images.verify.
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
