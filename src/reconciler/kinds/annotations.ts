// Reads and checks settings that are annotations, because ToolHive's documents define no fields for them.

import { closest } from '#std/closest.ts';
import { pointerToken } from '#std/json.ts';
import type { Annotation, Finding, Resource } from './kind.ts';

/**
 * A setting and the types of resources (`places`) that it applies to. `read` returns undefined for an invalid value.
 */
export interface AnnotationSetting<Value, Place extends string> extends Annotation {
  readonly places: readonly Place[];
  read(text: string): Value | undefined;
}

type Annotated = Pick<Resource, 'metadata'>;
type AnnotationSettings<Place extends string> = readonly AnnotationSetting<unknown, Place>[];

/** Prefix of the names of all settings, independent of the API group. */
const PREFIX = 'skep.dev/';

/**
 * Returns the value; undefined if the annotation is missing or invalid, or does not apply to the resource. `here`:
 * types of the resource, such as "servers with a network".
 */
export function annotationValue<Value, Place extends string>(
  { metadata }: Annotated,
  { name, places, read }: AnnotationSetting<Value, Place>,
  here: readonly Place[],
): Value | undefined {
  const text = metadata.annotations?.[name];
  return text === undefined || !places.some((place) => here.includes(place)) ? undefined : read(text);
}

/** For `rules`: finds invalid values, settings that do not apply to the resource, and misspelled names of settings. */
export function annotationFindings<Place extends string>(
  { metadata }: Annotated,
  settings: AnnotationSettings<Place>,
  here: readonly Place[],
): readonly Finding[] {
  return Object.entries(metadata.annotations ?? {}).flatMap(([name, value]): readonly Finding[] => {
    if (!name.startsWith(PREFIX)) return [];
    const pointer = `/metadata/annotations/${pointerToken(name)}`;
    const setting = settings.find((each) => each.name === name);
    if (setting === undefined) return unknownFindings(name, settings, pointer);
    if (!setting.places.some((place) => here.includes(place))) {
      const message = `${name} has no effect here: it is for ${setting.places.join(', ')}`;
      return [{ code: 'annotation-idle', severity: 'warning', pointer, message, at: 'key' }];
    }
    if (setting.read(value) !== undefined) return [];
    return [{ code: 'annotation-invalid', severity: 'error', pointer, message: `${name} must be ${setting.values}` }];
  });
}

/** Reports only names that look misspelled, because other programs also use the prefix. */
function unknownFindings(name: string, settings: readonly Annotation[], pointer: string): readonly Finding[] {
  const words = settings.map((setting) => setting.name.slice(PREFIX.length));
  const near = closest(name.slice(PREFIX.length), words);
  if (near === undefined) return [];
  const message = `there is no setting ${name}. Did you mean "${PREFIX}${near}"?`;
  return [{ code: 'annotation-unknown', severity: 'warning', pointer, message, at: 'key' }];
}

/** Returns the fields of a setting whose valid values are `choices`. */
export function oneOf<const Value extends string>(choices: readonly Value[], fallback: Value) {
  const read = (text: string) => choices.find((each) => each === text);
  return { values: choices.join(' or '), fallback, read };
}

/** Reads NAME or NAME/KEY, which name a ConfigMap with certificates. */
export function readConfigMapKey(text: string): { readonly name: string; readonly key: string } | undefined {
  const [, name, key = 'ca.crt'] =
    /^([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)(?:\/([-._a-zA-Z0-9]{1,253}))?$/.exec(text) ?? [];
  return name === undefined || key === '..' || key === '.' ? undefined : { name, key };
}

export const AUDIT_FAILURE_SETTING = {
  name: 'skep.dev/audit-failure',
  description:
    'Whether calls go on while audit events cannot be written, as on a full disk. continue: calls go on, and the log says how many events were lost. refuse: clients get 503.',
  ...oneOf(['continue', 'refuse'], 'continue'),
};

export type AuditFailureChoice = 'continue' | 'refuse';
