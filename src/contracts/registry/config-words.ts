// Defines common parts of the schemas for the registry service's configuration.

import { DURATION_PATTERN } from '#std/duration.ts';
import { Type } from '#std/json-schema.ts';

export const Text = (description: string) => Type.String({ minLength: 1, description });
export const HTTP_URL = '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]';
export const Url = (description: string) =>
  Type.String({ pattern: HTTP_URL, description: `${description} An http or https URL.` });
export const Duration = (description: string, keywords: { default?: string } = {}) =>
  Type.String({ pattern: DURATION_PATTERN, description: `${description} A duration such as 1h30m.`, ...keywords });
export const Texts = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });
export const CLOSED = { additionalProperties: false } as const;
