// Warns in a validation without a cluster that the images are not verified: only runs send requests to registries.

import type { Problem } from '#std/problem.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import { type ImagePolicy, modeFor } from './policy.ts';

/** Returns one warning for all images, with the place of the first image. */
export function imagesVerifiedLater(
  resources: readonly LoadedResource[],
  policy: ImagePolicy | undefined,
): readonly Problem[] {
  if (policy === undefined) return [];
  const images = resources.flatMap((resource) => {
    const { kind, defaulted, id } = resource;
    if (kind === undefined || defaulted === undefined || modeFor(policy, id.namespace ?? '') === 'off') return [];
    return kind.images(defaulted).map(({ pointer }) => ({ resource, pointer }));
  });
  const [first] = images;
  if (first === undefined) return [];
  const which = images.length === 1 ? 'this image is' : `this image and ${images.length - 1} more are`;
  const message = `${which} not verified here: \`skep plan\` and each run verify them with their registries (images.verify)`;
  return [
    problemOf(first.resource, { code: 'images-verified-later', severity: 'warning', pointer: first.pointer, message }),
  ];
}
