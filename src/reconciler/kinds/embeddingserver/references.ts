// Lists the objects that an EmbeddingServer names.

import type { Reference } from '../kind.ts';
import type { Embedding } from './facts.ts';

export function references({ spec }: Embedding): readonly Reference[] {
  const token = spec.hubTokenSecretRef;
  if (token === undefined) return [];
  return [{ pointer: '/spec/hubTokenSecretRef', kind: 'Secret', ...token, optional: 'waited' }];
}
