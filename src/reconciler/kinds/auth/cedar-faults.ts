// Finds every mistake in a text with Cedar policies, with its place in the text.

import { policyFaults } from '#std/cedar.ts';

export function cedarFaults(text: string): readonly string[] {
  return policyFaults(text).map(({ line, column, message }) => {
    return `line ${line}, column ${column} of the policy: ${message}`;
  });
}
