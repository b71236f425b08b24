// Defines types of fields in the configuration of an embedded authorization server.

import { addressed } from '#std/address/address.ts';
import { Type } from '#std/json-schema.ts';

export const CLOSED = { additionalProperties: false } as const;
export const Text = (description: string) => Type.String({ minLength: 1, description });
export const Url = (description: string) => addressed(Text(description), 'url');
export const Texts = (description: string) => Type.Array(Text('An item.'), { description });
export const Duration = (description: string) => Type.String({ minLength: 2, description });
