// Checks whether a value fits a JSON Schema, and describes the first fault.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { ADDRESS } from '#std/address/address.ts';
import { pointerToken } from '#std/json.ts';
import { lazyPackage } from '#std/lazy-package.ts';

const ajvPackage = lazyPackage<typeof import('ajv')>('ajv');

/**
 * Options of ajv. The schemas are not checked, because they are part of skep, and the checks are not optimised, because
 * each is used only a few times.
 */
export const AJV_OPTIONS = {
  meta: false,
  validateSchema: false,
  allErrors: true,
  strict: true,
  verbose: true,
  allowUnionTypes: true,
  code: { optimize: false },
  // addressFaults checks addresses separately, with better messages.
  keywords: [ADDRESS] as string[],
} as const;

/**
 * Returns a function that compiles the schema at its first call, because compiling is slow. The installed program
 * contains compiled checks of `contracts/`.
 */
export function schemaCheck<T>(schema: object): () => ValidateFunction<T> {
  let check: ValidateFunction<T> | undefined;
  return () => {
    const { Ajv } = ajvPackage();
    check ??= new Ajv(AJV_OPTIONS).compile<T>(schema);
    return check;
  };
}

/** Returns the first fault of the last check. An empty pointer means the whole value. */
export function firstMisfit(
  check: ValidateFunction,
): { readonly pointer: string; readonly message: string } | undefined {
  const [error] = check.errors ?? [];
  if (error === undefined) return undefined;
  if (error.keyword === 'additionalProperties') return { pointer: pointerOf(error), message: 'is not a known field' };
  // ajv's messages contain capitals: "must NOT have fewer than 1 items".
  return { pointer: pointerOf(error), message: (error.message ?? 'is not valid').replace(' NOT ', ' not ') };
}

/**
 * Returns the pointer of a fault. The pointer of an unknown field is the field's own pointer, not its object's pointer.
 */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'additionalProperties'
    ? `${instancePath}/${pointerToken(String(params.additionalProperty))}`
    : instancePath;
}
