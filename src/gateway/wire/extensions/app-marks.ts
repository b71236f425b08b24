// Reads the user interface that a tool's definition names, and the audiences that may call the tool (SEP-1865, MCP
// Apps, revision 2026-01-26).

import { isObject, type Json } from '#std/json.ts';
import { type MemberSpan, objectMembers } from '../json-walk.ts';
import type { Span } from '../message.ts';
import { jsonString, type Patch, patchBytes } from '../patch.ts';
import { readValue } from '../scan.ts';

export interface AppMarks {
  /** URIs of the user interface. A valid definition has at most one distinct URI. */
  readonly uris: readonly string[];
  /** True if a client may offer the tool to its model. */
  readonly forModel: boolean;
  /** True if the user interface may call the tool. */
  readonly forApp: boolean;
}

export const UNMARKED: AppMarks = { uris: [], forModel: true, forApp: true };
/** Keys in `_meta`. Older clients read the legacy key. */
const [SETTINGS, RESOURCE_URI, LEGACY_URI] = ['ui', 'resourceUri', 'ui/resourceUri'];

/**
 * Reads the definition of one tool as JSON bytes. Returns undefined if the tool's metadata has a key that is not valid
 * Unicode, because URIs in this metadata could not be replaced.
 */
export function readAppMarks(definition: Buffer): AppMarks | undefined {
  const found = readMeta(definition);
  if (found === undefined) return undefined;
  if (found.meta.length === 0) return UNMARKED;
  const uris = found.uris.flatMap((span) => uriAt(definition, span) ?? []);
  const settings = found.meta.filter(({ key }) => key === SETTINGS).map(({ value }) => readValue(definition, value));
  const allows = (audience: string) => settings.every((each) => isFor(each, audience));
  return { uris, forModel: allows('model'), forApp: allows('app') };
}

/**
 * Returns whether the audience may use the tool. If the definition states no visibility, all audiences may use the
 * tool.
 */
function isFor(settings: Json | undefined, audience: string): boolean {
  const visibility = isObject(settings) ? settings.visibility : undefined;
  return !Array.isArray(visibility) || visibility.includes(audience);
}

/** Returns the definition with replaced URIs of its user interface. */
export function renameAppUris(definition: Buffer, rename: (uri: string) => string): Buffer {
  const patches = (readMeta(definition)?.uris ?? []).flatMap((span): readonly Patch[] => {
    const uri = uriAt(definition, span);
    const renamed = uri === undefined ? undefined : rename(uri);
    return renamed === undefined || renamed === uri ? [] : [{ span, bytes: jsonString(renamed) }];
  });
  return patchBytes(
    definition,
    patches.toSorted((a, b) => a.span.start - b.span.start),
  );
}

interface Meta {
  readonly meta: readonly MemberSpan[];
  readonly uris: readonly Span[];
}

function readMeta(definition: Buffer): Meta | undefined {
  const found = objectMembers(definition, 0)?.find(({ key }) => key === '_meta');
  if (found === undefined) return { meta: [], uris: [] };
  const meta = membersInside(definition, found.value);
  const inside = meta?.filter(({ key }) => key === SETTINGS).map(({ value }) => membersInside(definition, value));
  if (meta === undefined || inside?.some((members) => members === undefined) === true) return undefined;
  const settings = (inside ?? []).flatMap((members) => members ?? []);
  const places = [
    ...meta.filter(({ key }) => key === LEGACY_URI),
    ...settings.filter(({ key }) => key === RESOURCE_URI),
  ];
  return { meta, uris: places.map(({ value }) => value) };
}

const BEGIN_OBJECT = 0x7b;

/**
 * Returns the members of an object, or an empty list for a value of another type. undefined if the object is not valid.
 */
function membersInside(bytes: Buffer, { start }: Span): readonly MemberSpan[] | undefined {
  return bytes[start] === BEGIN_OBJECT ? objectMembers(bytes, start) : [];
}

function uriAt(bytes: Buffer, span: Span): string | undefined {
  const value = readValue(bytes, span);
  return typeof value === 'string' ? value : undefined;
}
