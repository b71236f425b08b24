// What an EmbeddingServer names. Knows nothing about whether it exists: pods start as soon as it does.

import type { Reference } from '../kind.ts';
import type { Embedding } from './facts.ts';

export function references({ spec }: Embedding): readonly Reference[] {
  const token = spec.hubTokenSecretRef;
  if (token === undefined) return [];
  return [{ pointer: '/spec/hubTokenSecretRef', kind: 'Secret', ...token, optional: 'waited' }];
}
