// Validation without a cluster: load, and then resolve among the documents alone.
// What may live only in a cluster (Secrets, ConfigMaps) is not asked for.

import type { Kind } from '../kinds/kind.ts';
import { keyOf } from '../kube/object.ts';
import { bundledSchema } from '../kube/schemas/bundled.ts';
import type { Problem } from '../std/problem.ts';
import { declaredImages } from './declared-images.ts';
import { load } from './load.ts';
import { resolve } from './resolve.ts';
import type { LoadCache, SourceFile } from './source-file.ts';
import { openViews } from './view.ts';

export interface ValidateInput {
  readonly documents: readonly SourceFile[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly cache?: LoadCache;
}

export interface Validation {
  readonly summary: {
    readonly files: number;
    readonly resources: number;
    readonly valid: number;
    readonly invalid: number;
    readonly problems: number;
  };
  readonly problems: readonly Problem[];
}

export function validate(input: ValidateInput): Validation {
  const { documents, kinds, apiGroup, cache } = input;
  const loaded = load({
    source: 'files',
    documents,
    kinds,
    apiGroup,
    builtin: bundledSchema,
    ...(cache === undefined ? {} : { cache }),
  });
  const broken = new Set(loaded.invalid.map(keyOf));
  const own = new Set(kinds.map((kind) => kind.kind));
  const resources = loaded.resources.map((resource) => ({ ...resource, source: 'files' }));
  const views = openViews({
    apiGroup,
    layers: [resources.filter(({ id }) => !broken.has(keyOf(id))).map((each) => each.defaulted ?? each.object)],
  });
  const enforced = declaredImages(resources, views);
  const { problems: unresolved } = resolve({
    loaded: resources,
    invalid: loaded.invalid,
    kinds,
    views,
    knowledge: (kind) => (own.has(kind) ? 'listed' : 'none'),
    images: enforced.images,
    leftAlone: new Set(),
    living: () => undefined,
  });
  // A registry whose images are not known here is told once, not for each image.
  const told = unresolved.filter(({ code }) => code !== 'image-unknown');
  const problems = [...loaded.problems, ...told, ...enforced.problems];
  for (const { severity, resource } of problems) {
    if (severity === 'error' && resource !== undefined) broken.add(keyOf(resource));
  }
  return {
    summary: {
      files: documents.length,
      resources: loaded.resources.length,
      valid: loaded.resources.length - broken.size,
      invalid: broken.size,
      problems: problems.length,
    },
    problems,
  };
}
