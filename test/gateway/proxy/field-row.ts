// One setting of a proxy and the story that shows its effect.

import type { RunConfig } from '#contracts/run-config.ts';
import type { Environment } from '#std/environment.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { FieldWorld } from './field-world.ts';
import type { runProxy } from './world.ts';

export interface FieldRow {
  /** A pointer into the schema: `*` is each key of a map, and each item of a list. */
  readonly field: string;
  /** Where it is in the configuration of the story, where that is another pointer. */
  readonly at?: string;
  readonly value: Json | ((world: FieldWorld) => Json);
  /** What a proxy that does not read the field would go by; absent: there is none. */
  readonly ignored?: Json | ((world: FieldWorld) => Json);
  /** The other settings of the story. */
  readonly base?: (world: FieldWorld) => Partial<RunConfig>;
  readonly environment?: (world: FieldWorld) => Environment;
  /** What is seen. */
  readonly see: (
    config: RunConfig,
    world: FieldWorld,
    environment: Environment,
    start?: typeof runProxy,
  ) => Promise<unknown>;
  readonly expected: unknown;
  /** Where the field is ignored, nothing may come for long: then what is seen is that. */
  readonly ignoredWithinMs?: number;
}

/** Pointers of all settings: what has no properties of its own. Those below `whole` are one. */
export function settingsOf(schema: unknown, whole: readonly string[] = [], pointer = ''): string[] {
  if (!isObject(schema) || whole.includes(pointer)) return [pointer];
  const { properties, items } = schema;
  if (isObject(properties)) {
    return Object.entries(properties).flatMap(([key, each]) => settingsOf(each, whole, `${pointer}/${key}`));
  }
  const item = isObject(items) ? items : valuesOf(schema);
  return isObject(item?.properties) ? settingsOf(item, whole, `${pointer}/*`) : [pointer];
}

/** Of a map. */
function valuesOf({ additionalProperties, patternProperties }: JsonObject): JsonObject | undefined {
  if (isObject(additionalProperties)) return additionalProperties;
  const [each] = isObject(patternProperties) ? Object.values(patternProperties) : [];
  return isObject(each) ? each : undefined;
}

/** A copy with another value; undefined takes it away. */
export function withSetting(config: JsonObject, pointer: string, value: Json | undefined): JsonObject {
  const copy: JsonObject = structuredClone(config);
  const keys = pointer.split('/').slice(1);
  const last = keys.pop() ?? '';
  let place: Json = copy;
  for (const key of keys) {
    if (Array.isArray(place)) place = place[Number(key)] ?? null;
    else if (isObject(place)) place = place[key] ??= {};
  }
  if (!isObject(place)) throw new Error(`nothing at ${pointer}`);
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}
