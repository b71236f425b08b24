// Converts `call_tool` to a call of the named tool. Id, progress token and other fields of the client's message stay.

import { messagePatches } from '../../wire/ids.ts';
import { foldKey } from '../../wire/json-members.ts';
import { type MemberSpan, objectMembers } from '../../wire/json-walk.ts';
import type { RequestMessage, Span } from '../../wire/message.ts';
import { patchBytes } from '../../wire/patch.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';

export type InnerCallRead =
  | { readonly ok: true; readonly tool: string; readonly body: Buffer; readonly message: RequestMessage }
  /** The fault, as a message to the calling model. */
  | { readonly ok: false; readonly message: string };

const BEGIN_OBJECT = 0x7b;
const NO_ARGUMENTS = Buffer.from('{}');

/** Cached conversions: the gate and the optimizer both need the conversion, and arguments may have megabytes. */
const read = new WeakMap<RequestMessage, InnerCallRead>();

export function readInnerCall(body: Buffer, request: RequestMessage): InnerCallRead {
  const known = read.get(request);
  if (known !== undefined) return known;
  const inner = readAnew(body, request);
  read.set(request, inner);
  return inner;
}

function readAnew(body: Buffer, request: RequestMessage): InnerCallRead {
  const { arguments: given } = request;
  if (given === undefined) return misuse('has no arguments');
  const members = objectMembers(body, given.start) ?? [];
  const [names, parameters] = [argumentsNamed(members, 'tool_name'), argumentsNamed(members, 'parameters')];
  const [name] = names;
  // If a key occurs twice, policies and the server could read different values.
  if (names.length > 1 || parameters.length > 1) return misuse('has an argument twice');
  const tool = name === undefined ? undefined : readValue(body, name);
  if (typeof tool !== 'string') return misuse('needs tool_name, a text');
  const [value] = parameters;
  if (value !== undefined && body[value.start] !== BEGIN_OBJECT) return misuse('takes an object as parameters');
  const bytes = value === undefined ? NO_ARGUMENTS : body.subarray(value.start, value.end);
  const patches = [...messagePatches(request, { target: tool }), { span: given, bytes }];
  const inner = patchBytes(
    body,
    patches.sort((a, b) => a.span.start - b.span.start),
  );
  const scanned = scanMessage(inner);
  if (!scanned.ok || scanned.message.kind !== 'request') return misuse('has arguments that cannot be read');
  return { ok: true, tool, body: inner, message: scanned.message };
}

function misuse(what: string): InnerCallRead {
  return { ok: false, message: `call_tool ${what}` };
}

function argumentsNamed(members: readonly MemberSpan[], key: string): readonly Span[] {
  return members.filter((member) => foldKey(member.key) === key).map(({ value }) => value);
}
