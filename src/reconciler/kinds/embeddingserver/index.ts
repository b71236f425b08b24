// Defines the kind EmbeddingServer: an inference server that turns texts into vectors, with which virtual MCP servers
// search their tools.

import { defineKind } from '../define.ts';
import { made } from '../made.ts';
import { podImages } from '../pods/images.ts';
import { children } from './children.ts';
import { references } from './references.ts';
import { rules } from './rules.ts';
import { EmbeddingServerSpec, EmbeddingServerStatus } from './schema.ts';
import { status } from './status.ts';

export const EmbeddingServer = defineKind({
  kind: 'EmbeddingServer',
  plural: 'embeddingservers',
  singular: 'embeddingserver',
  shortNames: ['emb', 'embedding'],
  categories: ['toolhive'],
  description: 'A server that computes embeddings with a model of a model hub, and can keep the model.',
  printerColumns: [
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'Model', type: 'string', jsonPath: '.spec.model' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  after: [],
  schema: {
    spec: EmbeddingServerSpec,
    status: EmbeddingServerStatus,
    validations: [
      {
        rule: "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        message:
          'name must be at most 52 lower-case letters, digits and hyphens, starting with a letter: a StatefulSet and a Service are named after it',
        fieldPath: '.metadata.name',
      },
    ],
  },
  rules,
  references,
  images: ({ spec }) => podImages({ container: 'embedding', image: spec.image }, spec.podTemplateSpec),
  makes: ({ name }) => made({ StatefulSet: [name], Service: [name], PodDisruptionBudget: [name] }),
  children,
  status,
});
