// Reads and writes verified attestations of a workload's image. The reconciler writes them into an annotation of the
// workload, and pages show them.

import { isObject, type Json, objectsIn, parseJson } from '#std/json.ts';

/** Attestation with the expected signer. */
export interface ImageProvenance {
  readonly predicateType: string;
  /** Source repository, from the signer's certificate. */
  readonly repository?: string;
  /** Workflow that signed the attestation, from the signer's certificate. */
  readonly identity?: string;
}

/** Annotation with a JSON object that contains a list of attestations for each image (`name@digest`). */
export const IMAGE_PROVENANCE = 'skep.dev/image-provenance';

type ByImage = ReadonlyMap<string, readonly ImageProvenance[]>;

/** Returns undefined if no image has attestations. */
export function formatProvenance(images: ByImage): string | undefined {
  const found = [...images].filter(([, all]) => all.length > 0).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return found.length === 0 ? undefined : JSON.stringify(Object.fromEntries(found));
}

/** Returns the attestations of the image. `image` may be the name with or without the digest. */
export function readProvenance(
  annotations: Readonly<Record<string, string>> | undefined,
  image: string,
): readonly ImageProvenance[] {
  const value = parseJson(annotations?.[IMAGE_PROVENANCE] ?? '');
  const images = isObject(value) ? Object.entries(value) : [];
  return images.flatMap(([name, all]) => (name === image || name.startsWith(`${image}@`) ? readAll(all) : []));
}

function readAll(all: Json | undefined): readonly ImageProvenance[] {
  return objectsIn(all).flatMap(({ predicateType, repository, identity }) =>
    isText(predicateType)
      ? [
          {
            predicateType,
            ...(isText(repository) ? { repository } : {}),
            ...(isText(identity) ? { identity } : {}),
          },
        ]
      : [],
  );
}

/** Returns true if databases and URLs can contain the text: it must contain no unpaired surrogate and no U+0000. */
function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
