// Defines the row of a test that shows the effect of a proxy setting.

import type { RunConfig } from '#contracts/run-config.ts';
import type { Environment } from '#std/environment.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { FieldWorld } from './field-world.ts';
import type { runProxy } from './world.ts';

export interface FieldRow {
  /** Pointer to the setting in the schema. `*` is any key of a map or any item of a list. */
  readonly field: string;
  /** Pointer to the setting in the configuration, if it differs from `field`. */
  readonly at?: string;
  readonly value: Json | ((world: FieldWorld) => Json);
  /** Value that a proxy would use if it did not read the setting. By default, the setting is absent. */
  readonly ignored?: Json | ((world: FieldWorld) => Json);
  /** Returns the other settings of the test. */
  readonly base?: (world: FieldWorld) => Partial<RunConfig>;
  readonly environment?: (world: FieldWorld) => Environment;
  /** Observes a proxy with the configuration. Returns the result. */
  readonly see: (
    config: RunConfig,
    world: FieldWorld,
    environment: Environment,
    start?: typeof runProxy,
  ) => Promise<unknown>;
  readonly expected: unknown;
  /** Time after which a missing result counts as the result of a proxy that ignores the setting. */
  readonly ignoredWithinMs?: number;
}

/** Returns the pointers of all settings without properties. A pointer in `whole` counts as one setting. */
export function settingsOf(schema: unknown, whole: readonly string[] = [], pointer = ''): string[] {
  if (!isObject(schema) || whole.includes(pointer)) return [pointer];
  const { properties, items } = schema;
  if (isObject(properties)) {
    return Object.entries(properties).flatMap(([key, each]) => settingsOf(each, whole, `${pointer}/${key}`));
  }
  const item = isObject(items) ? items : valuesOf(schema);
  return isObject(item?.properties) ? settingsOf(item, whole, `${pointer}/*`) : [pointer];
}

/** Returns the schema of a map's values. */
function valuesOf({ additionalProperties, patternProperties }: JsonObject): JsonObject | undefined {
  if (isObject(additionalProperties)) return additionalProperties;
  const [each] = isObject(patternProperties) ? Object.values(patternProperties) : [];
  return isObject(each) ? each : undefined;
}

/** Returns a copy with the value at the pointer. undefined removes the setting. */
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
