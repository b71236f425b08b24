// Defines the type of functions that fill in the defaults of one type.

import type { JsonObject } from '#std/json.ts';

/** Returns the value with its defaults. Nested values already have their defaults. */
export type Defaulter = (value: JsonObject) => JsonObject;
