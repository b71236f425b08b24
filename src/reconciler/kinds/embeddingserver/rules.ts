// Finds mistakes in an EmbeddingServer that neither its schema nor CEL can express.

import type { Finding } from '../kind.ts';
import { podTemplateFindings } from '../pods/pod-template.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { type Embedding, fieldArguments, TOKEN_ENV } from './facts.ts';

export function rules({ spec }: Embedding): readonly Finding[] {
  return [
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...argumentFindings({ spec }),
    ...tokenFindings({ spec }),
    ...programFindings({ spec }),
    ...cacheFindings({ spec }),
  ];
}

/** Finds arguments that fields already set. text-embeddings-inference does not start with a repeated argument. */
function argumentFindings({ spec }: Pick<Embedding, 'spec'>): readonly Finding[] {
  return (spec.args ?? []).flatMap((argument, index): readonly Finding[] => {
    const known = fieldArguments(spec).find(({ flag }) => argument === flag || argument.startsWith(`${flag}=`));
    if (known === undefined) return [];
    const { flag, field } = known;
    const message = `${flag} is already set by the field ${field}: set the field instead`;
    return [{ code: 'argument-set-twice', severity: 'error', pointer: `/spec/args/${index}`, message }];
  });
}

function tokenFindings({ spec }: Pick<Embedding, 'spec'>): readonly Finding[] {
  if (spec.hubTokenSecretRef === undefined) return [];
  const index = (spec.env ?? []).findIndex(({ name }) => name === TOKEN_ENV);
  if (index < 0) return [];
  const message = `${TOKEN_ENV} is set twice: this value takes precedence over hubTokenSecretRef`;
  return [{ code: 'env-set-twice', severity: 'warning', pointer: `/spec/env/${index}`, message }];
}

/**
 * Warns if the image's name does not contain text-embeddings-inference. This is not an error, because a mirror may give
 * the image another name.
 */
function programFindings({ spec }: Pick<Embedding, 'spec'>): readonly Finding[] {
  if (/text-embeddings-inference/i.test(spec.image)) return [];
  const message = `"${spec.image}" does not look like an image of text-embeddings-inference, whose arguments and /health are used`;
  return [{ code: 'embedding-image-unknown', severity: 'warning', pointer: '/spec/image', message }];
}

/**
 * Reports cache settings without an effect. Defaults are not reported, because the author may not have written them.
 */
function cacheFindings({ spec: { modelCache } }: Pick<Embedding, 'spec'>): readonly Finding[] {
  if (modelCache === undefined || modelCache.enabled) return [];
  const { size, accessMode, storageClassName } = modelCache;
  const set = {
    size: size !== '10Gi',
    accessMode: accessMode !== 'ReadWriteOnce',
    storageClassName: !!storageClassName,
  };
  return Object.entries(set).flatMap(([field, isSet]) =>
    isSet ? [fieldWithoutEffect(`/spec/modelCache/${field}`, 'enabled is false')] : [],
  );
}
