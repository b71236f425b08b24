// Whether a value fits a JSON Schema, and in words what is wrong with it.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { ADDRESS } from '#std/address/address.ts';
import { pointerToken } from '#std/json.ts';
import { lazyPackage } from '#std/lazy-package.ts';

const ajvPackage = lazyPackage<typeof import('ajv')>('ajv');

/** The schemas are ours, and each is used a few times: what ajv does to check and shorten them takes longer than it saves. */
export const AJV_OPTIONS = {
  meta: false,
  validateSchema: false,
  allErrors: true,
  strict: true,
  verbose: true,
  allowUnionTypes: true,
  code: { optimize: false },
  // Checked apart, where a message can say what would be right: see addressFaults.
  keywords: [ADDRESS] as string[],
} as const;

/**
 * A check whose schema is compiled when it is first asked for: that is slow, and most commands never ask. The program that
 * is installed has the checks of `contracts/` compiled already.
 */
export function schemaCheck<T>(schema: object): () => ValidateFunction<T> {
  let check: ValidateFunction<T> | undefined;
  return () => {
    const { Ajv } = ajvPackage();
    check ??= new Ajv(AJV_OPTIONS).compile<T>(schema);
    return check;
  };
}

/** What is wrong with the value that the check saw last, as pointer (empty: the value itself) and words. */
export function firstMisfit(
  check: ValidateFunction,
): { readonly pointer: string; readonly message: string } | undefined {
  const [error] = check.errors ?? [];
  if (error === undefined) return undefined;
  // ajv shouts: "must NOT have fewer than 1 items".
  if (error.keyword === 'additionalProperties') return { pointer: pointerOf(error), message: 'is not a known field' };
  return { pointer: pointerOf(error), message: (error.message ?? 'is not valid').replace(' NOT ', ' not ') };
}

/** An unknown field is named itself, not the object that has it. */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'additionalProperties'
    ? `${instancePath}/${pointerToken(String(params.additionalProperty))}`
    : instancePath;
}
