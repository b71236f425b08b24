// Lists the images of a pod, from the generated pod template merged with the author's template.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Image } from '../kind.ts';
import { withPodTemplate } from './pod-template.ts';

/** `own`: the container that skep renders, and its image from `spec.image`. */
export function podImages(
  own: { readonly container: string; readonly image: string },
  patch: JsonObject | undefined,
): readonly Image[] {
  const generated = { spec: { containers: [{ name: own.container, image: own.image }] } };
  const { spec } = withPodTemplate(generated, patch);
  if (!isObject(spec)) return [];
  const written = isObject(patch?.spec) ? patch.spec : {};
  return IMAGES_IN.flatMap(({ list, imageOf }) =>
    objectsIn(spec[list]).flatMap((item): readonly Image[] => {
      const image = imageOf(item);
      if (typeof image !== 'string' || image === '') return [];
      return [{ image, pointer: writtenPlace({ list, imageOf }, item, written) ?? '/spec/image' }];
    }),
  );
}

interface ImagesIn {
  readonly list: 'containers' | 'initContainers' | 'ephemeralContainers' | 'volumes';
  readonly imageOf: (item: JsonObject) => Json | undefined;
}

/**
 * Lists of a pod whose items name images. A volume with an image can also contain programs (Kubernetes,
 * ImageVolumeSource).
 */
const IMAGES_IN: readonly ImagesIn[] = [
  { list: 'containers', imageOf: ({ image }) => image },
  { list: 'initContainers', imageOf: ({ image }) => image },
  { list: 'ephemeralContainers', imageOf: ({ image }) => image },
  { list: 'volumes', imageOf: ({ image }) => (isObject(image) ? image.reference : undefined) },
];

/** Returns the pointer of the image in the author's template; undefined if the template does not contain the image. */
function writtenPlace({ list, imageOf }: ImagesIn, { name }: JsonObject, written: JsonObject): string | undefined {
  const items = written[list];
  if (!Array.isArray(items)) return undefined;
  const index = items.findIndex((item) => isObject(item) && item.name === name && imageOf(item) !== undefined);
  if (index < 0) return undefined;
  return `/spec/podTemplateSpec/spec/${list}/${index}/image${list === 'volumes' ? '/reference' : ''}`;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
