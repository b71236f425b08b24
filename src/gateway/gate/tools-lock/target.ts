// Finds the tool, prompt or resource template that a client's message uses, so that the tools lock can check its
// definition.

import type { Message } from '../../wire/message.ts';
import type { FilteredKey } from '../../wire/methods.ts';
import type { Denial } from '../codes.ts';

export interface LockedTarget {
  readonly list: FilteredKey;
  /** The server's own name of the item. */
  readonly name: string;
}

/**
 * Returns the item, or undefined if the message uses none. `ownTool` maps the client's name of a tool to the server's
 * name.
 */
export function lockedTarget(
  message: Message,
  ownTool: (name: string) => string | undefined,
): LockedTarget | undefined {
  if (message.kind === 'response' || message.target === undefined) return undefined;
  const { value: name, refType } = message.target;
  switch (message.method) {
    case 'tools/call': {
      const own = ownTool(name);
      return own === undefined ? undefined : { list: 'tools', name: own };
    }
    case 'prompts/get':
      return { list: 'prompts', name };
    case 'completion/complete':
      return { list: refType === 'ref/prompt' ? 'prompts' : 'resourceTemplates', name };
    default:
      return undefined;
  }
}

const NAME_SHOWN = 200;

/**
 * Returns the refusal. The HTTP status is 200 in all protocol versions, as for an unknown tool (MCP 2025-11-25 and
 * 2026-07-28, tools, Error Handling).
 */
export function heldBack({ list, name }: LockedTarget): Denial {
  const what = list === 'tools' ? 'Tool' : list === 'prompts' ? 'Prompt' : 'Resource template';
  const message = `${what} ${name.slice(0, NAME_SHOWN)} is held back: its definition differs from the reviewed one.`;
  return { httpStatus: 200, rpcCode: -32602, code: 'definition-held-back', message };
}
