// Custom kinds as scenarios need them: how they are defined and how their objects look.

import type { Json, JsonObject } from '#std/json.ts';
import type { Answer, Step } from '../scenario.ts';
import { at, create, read } from '../scenario.ts';
import * as o from './objects.ts';

export const GROUP = 'recordings.example.com';

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const DRY = { dryRun: 'All' };

export interface Custom {
  readonly kind: string;
  readonly plural: string;
  /** Collection and definition. */
  readonly path: string;
  readonly definition: string;
}

export function custom(kind: string): Custom {
  const plural = `${kind.toLowerCase()}s`;
  return {
    kind,
    plural,
    path: `/apis/${GROUP}/v1/namespaces/\${ns}/${plural}`,
    definition: `${o.CRDS}/${plural}.${GROUP}`,
  };
}

export function object(of: Custom, spec: Json, metadata: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { apiVersion: `${GROUP}/v1`, kind: of.kind, metadata: { name: 'one', ...metadata }, spec, ...more };
}

export function isEstablished(answer: Answer): boolean {
  const conditions = at(answer.body, '/status/conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => at(one, '/type') === 'Established' && at(one, '/status') === 'True')
  );
}

/** Only what the definition came to. */
export function status(body: Json): Json {
  return at(body, '/status') ?? body;
}

/** Defines a kind and waits until it is served. */
export function define(of: Custom, spec: JsonObject, more: Partial<o.CrdOptions> = {}): Step[] {
  const schema = { type: 'object', properties: { spec, ...((more.schema as JsonObject | undefined) ?? {}) } };
  return [
    create(
      'the definition is taken',
      o.CRDS,
      o.crd({ group: GROUP, kind: of.kind, plural: of.plural, ...more, schema }),
      { pick: nothing },
    ),
    read('it is established', of.definition, { until: isEstablished, pick: status }),
    read('its objects are served', of.path, { until: (answer) => answer.status === 200 }),
  ];
}

/** The definition itself is recorded where it is the subject. */
export function nothing(body: Json): Json {
  return at(body, '/kind') === 'Status' ? body : { kind: at(body, '/kind') ?? null };
}

export const text: JsonObject = { type: 'string' };
