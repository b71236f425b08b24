// Formats the path of a field in findings for users.

import { pointerTokens } from '#std/json.ts';

/** Returns `spec.env[0].name` for `/spec/env/0/name`, the form of kubectl and the API server. */
export function fieldPath(pointer: string): string {
  let path = '';
  for (const token of pointerTokens(pointer)) {
    if (/^[0-9]+$/.test(token)) path += `[${token}]`;
    else if (!/^[A-Za-z_$][\w$-]*$/.test(token)) path += `[${JSON.stringify(token)}]`;
    else path += path === '' ? token : `.${token}`;
  }
  return path === '' ? 'the object' : path;
}
