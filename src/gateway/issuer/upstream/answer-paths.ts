// Reads values of a token response at the paths that the configuration names.

import { decodeJwt } from 'jose';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { IdentityPaths } from './settings.ts';
import { type UserInfo, userInfoOf } from './user-info.ts';

export function textByPath(answer: JsonObject, path: string): string | undefined {
  const value = valueByPath(answer, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value at a path. Dots separate names of members and indices of lists. */
export function valueByPath(answer: Json, path: string): Json | undefined {
  let value: Json | undefined = answer;
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

/** Reads the person from a token response. Only TLS protects the response. */
export function identityIn(answer: JsonObject, paths: IdentityPaths): UserInfo {
  const { subject_path: sub, name_path: name, email_path: email } = paths;
  const found = { sub: fieldAtPath(answer, sub), name: fieldAtPath(answer, name), email: fieldAtPath(answer, email) };
  return userInfoOf(Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)));
}

/**
 * Part of a path that stands for the claims of the JWT at the preceding path. The signature of the JWT is not verified.
 */
const CLAIMS = '@upstreamjwt';

function fieldAtPath(answer: JsonObject, path: string | undefined): Json | undefined {
  if (path === undefined) return undefined;
  let value: Json | undefined = answer;
  for (const part of path.split('|')) {
    if (value === undefined) return undefined;
    value = part === CLAIMS ? claimsOf(value) : valueByPath(value, part);
  }
  return value;
}

/** Returns the claims. undefined if the value is not a JWT. */
function claimsOf(token: Json): Json | undefined {
  if (typeof token !== 'string') return undefined;
  try {
    const claims: unknown = decodeJwt(token);
    return claims as JsonObject;
  } catch {
    // The caller reports that the response names no subject. The error of jose adds nothing.
    return undefined;
  }
}
