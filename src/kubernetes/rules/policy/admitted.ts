// Objects of built-in kinds as admission sees them: decoded, and written again in the server's own spelling. What the server
// fills in where a field is absent is not there: it is known to a server only.

import { normalise } from '../normalise.ts';
import { groupOf, type KubeObject } from '../object.ts';
import { rootType } from '../openapi.ts';
import { bundledSchema } from '../schemas/bundled.ts';

/** The argument itself where the kind is not built in. */
export function builtinAsAdmitted(object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  const document = bundledSchema(apiVersion);
  if (document === undefined) return object;
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  return normalise(object, rootType(document, { group: groupOf(apiVersion), version, kind }));
}
