// Converts objects of built-in kinds to the form that admission receives: the server decodes and re-encodes objects
// before admission. Server defaults are not added, because they are unknown here.

import { normalise } from '../normalise.ts';
import { groupOf, type KubeObject } from '../object.ts';
import { rootType } from '../openapi.ts';
import { bundledSchema } from '../schemas/bundled.ts';

/** Returns the argument itself if the kind is not built in. */
export function builtinAsAdmitted(object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  const document = bundledSchema(apiVersion);
  if (document === undefined) return object;
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  return normalise(object, rootType(document, { group: groupOf(apiVersion), version, kind }));
}
