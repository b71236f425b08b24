// Reads the annotation `skep.dev/ignore-fields`: the fields that a manifest leaves to other managers.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { IGNORE_FIELDS } from '../labels.ts';

/**
 * Returns the paths in the annotation. The paths are separated by commas and have the form that plans show:
 * `/spec/replicas, /spec/template/spec/containers/[name=web]/image`.
 */
export function ignoredFields(object: JsonObject): readonly string[] {
  const { metadata } = object;
  const { annotations } = isObject(metadata) ? metadata : {};
  const text = isObject(annotations) ? annotations[IGNORE_FIELDS] : undefined;
  // A comma in a key of a list item separates no paths: `[port=80,protocol=TCP]`.
  return typeof text === 'string' ? text.split(/,(?![^[\]]*\])/).map((path) => path.trim()) : [];
}

/** Returns true if an ignored path is this field or a parent of this field. */
export function isIgnored(ignored: readonly string[], path: string): boolean {
  return ignored.some((each) => path === each || path.startsWith(`${each}/`));
}

/** Reports paths that must not be ignored: malformed paths, and fields that identify an object or its owner. */
export function checkIgnoredFields(object: JsonObject): readonly Finding[] {
  const wrong = ignoredFields(object).filter((path) => !FIELD.test(path) || OWN.test(path));
  return wrong.map((path) => ({
    code: 'ignore-fields-invalid',
    severity: 'error',
    pointer: `/metadata/annotations/${IGNORE_FIELDS.replace('/', '~1')}`,
    message: `${IGNORE_FIELDS} names ${JSON.stringify(path)}: each must be the path of a field that others may set, as plans show it, such as /spec/replicas or /spec/ports/[port=80,protocol=TCP]/nodePort`,
  }));
}

const FIELD = /^(\/[^/]+)+$/;
const OWN =
  /^\/(apiVersion|kind|status)(\/|$)|^\/metadata(\/(?!(labels|annotations)\/)|$)|^\/metadata\/[a-z]+\/(skep\.dev|applyset\.kubernetes\.io)~1/;
