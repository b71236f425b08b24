// Computes values from an EmbeddingServer's spec that several files need.

import type { Static } from '#std/schema.ts';
import type { Typed } from '../define.ts';
import type { EmbeddingServerSpec } from './schema.ts';

export type Embedding = Typed<typeof EmbeddingServerSpec>;
export type Spec = Static<typeof EmbeddingServerSpec>;

/** Returns the labels of the pods. Selectors use these labels, so they must never change. */
export function embeddingLabels(name: string) {
  return {
    'app.kubernetes.io/name': 'embeddingserver',
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/component': 'embedding-server',
    'app.kubernetes.io/managed-by': 'toolhive-operator',
  };
}

/** Returns `status.url`: the URL of the Service, which has the name of the EmbeddingServer. */
export function serverUrl({ name, namespace, spec }: Embedding): string {
  return `http://${name}.${namespace}.svc.cluster.local:${spec.port}`;
}

/** Variables that skep sets in addition to the author's variables. */
export const MODEL_ENV = 'MODEL_ID';
export const TOKEN_ENV = 'HF_TOKEN';

/** Returns the arguments that fields of the spec set. */
export function fieldArguments({ model, port }: Spec) {
  return [
    { flag: '--model-id', value: model, field: 'model' },
    { flag: '--port', value: String(port), field: 'port' },
  ];
}
