// Defines the field with the upstream provider whose token replaces the caller's token.

import { optional, text } from '#std/schema.ts';

export const PROVIDER = { minLength: 1, maxLength: 63 } as const;

/** `kind`: noun for the token, for the description. */
export function subjectProvider(kind: string) {
  return optional(
    text(
      `Name of an upstream provider of the embedded authorization server: the token that the caller got there is the ${kind}. If it is absent, the token that the caller sent.`,
      PROVIDER,
    ),
  );
}
