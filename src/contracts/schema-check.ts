// Checks whether a value fits a JSON Schema, and describes the faults in words.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { ADDRESS } from '#std/address/address.ts';
import { pointerToken } from '#std/json.ts';
import { lazyPackage } from '#std/lazy-package.ts';

const ajvPackage = lazyPackage<typeof import('ajv')>('ajv');

/** The schemas are our own and rarely used, so checking and optimising them would cost ajv more time than it saves. */
export const AJV_OPTIONS = {
  meta: false,
  validateSchema: false,
  allErrors: true,
  strict: true,
  verbose: true,
  allowUnionTypes: true,
  code: { optimize: false },
  // Addresses are checked separately, with better messages: by addressFaults.
  keywords: [ADDRESS] as string[],
} as const;

/**
 * Returns a check whose schema is compiled on first use, because compiling is slow and most commands need few checks.
 * The installed program contains the compiled checks of `contracts/`.
 */
export function schemaCheck<T>(schema: object): () => ValidateFunction<T> {
  let check: ValidateFunction<T> | undefined;
  return () => {
    const { Ajv } = ajvPackage();
    check ??= new Ajv(AJV_OPTIONS).compile<T>(schema);
    return check;
  };
}

/** Returns the first fault that the last check found, as pointer (empty: the value itself) and words. */
export function firstMisfit(
  check: ValidateFunction,
): { readonly pointer: string; readonly message: string } | undefined {
  const [error] = check.errors ?? [];
  if (error === undefined) return undefined;
  // The message of ajv has capitals: "must NOT have fewer than 1 items".
  if (error.keyword === 'additionalProperties') return { pointer: pointerOf(error), message: 'is not a known field' };
  return { pointer: pointerOf(error), message: (error.message ?? 'is not valid').replace(' NOT ', ' not ') };
}

/** Returns the pointer of a fault. For an unknown field, the pointer names the field, not its object. */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'additionalProperties'
    ? `${instancePath}/${pointerToken(String(params.additionalProperty))}`
    : instancePath;
}
