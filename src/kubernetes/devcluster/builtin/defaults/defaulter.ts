// What fills in the defaults of one type.

import type { JsonObject } from '#std/json.ts';

/** Answers the value with its defaults; values inside have theirs already. */
export type Defaulter = (value: JsonObject) => JsonObject;
