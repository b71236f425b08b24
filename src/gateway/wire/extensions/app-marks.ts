// The user interface that the definition of a tool names, and who may call the tool (SEP-1865, MCP Apps, revision 2026-01-26).

import { isObject } from '#std/json.ts';
import { type Member, objectMembers } from '../json-walk.ts';
import type { Span } from '../message.ts';
import { jsonString, type Patch, patchBytes } from '../patch.ts';
import { readValue } from '../scan.ts';

export interface AppMarks {
  /** URIs of the user interface, of which there is one at most in definitions that agree with themselves. */
  readonly uris: readonly string[];
  /** A client offers the tool to its model. */
  readonly forModel: boolean;
  /** The user interface may call the tool. */
  readonly forApp: boolean;
}

const UNMARKED: AppMarks = { uris: [], forModel: true, forApp: true };
/** Older hosts read the second. */
const [SETTINGS, RESOURCE_URI, LEGACY_URI] = ['ui', 'resourceUri', 'ui/resourceUri'];

/** `definition` is one tool of a list, as JSON bytes. */
export function readAppMarks(definition: Buffer): AppMarks {
  const meta = metaOf(definition);
  if (meta.length === 0) return UNMARKED;
  const uris = uriSpans(definition, meta).flatMap((span) => uriAt(definition, span) ?? []);
  const settings = meta.find(({ key }) => key === SETTINGS);
  const value = settings === undefined ? undefined : readValue(definition, settings.value);
  const visibility = isObject(value) && Array.isArray(value.visibility) ? value.visibility : undefined;
  if (visibility === undefined) return { ...UNMARKED, uris };
  return { uris, forModel: visibility.includes('model'), forApp: visibility.includes('app') };
}

/** The definition with other URIs of its user interface. */
export function renameAppUris(definition: Buffer, rename: (uri: string) => string): Buffer {
  const patches = uriSpans(definition, metaOf(definition)).flatMap((span): readonly Patch[] => {
    const uri = uriAt(definition, span);
    const renamed = uri === undefined ? undefined : rename(uri);
    return renamed === undefined || renamed === uri ? [] : [{ span, bytes: jsonString(renamed) }];
  });
  return patchBytes(
    definition,
    patches.toSorted((a, b) => a.span.start - b.span.start),
  );
}

function metaOf(definition: Buffer): readonly Member[] {
  return membersAt(definition, { start: 0, end: definition.length }, '_meta');
}

function uriSpans(definition: Buffer, meta: readonly Member[]): readonly Span[] {
  return meta.flatMap(({ key, value }) => {
    if (key === LEGACY_URI) return [value];
    if (key !== SETTINGS) return [];
    const settings = objectMembers(definition, value.start) ?? [];
    return settings.filter((each) => each.key === RESOURCE_URI).map((each) => each.value);
  });
}

function membersAt(bytes: Buffer, { start }: Span, name: string): readonly Member[] {
  const found = objectMembers(bytes, start)?.find(({ key }) => key === name);
  return (found && objectMembers(bytes, found.value.start)) ?? [];
}

function uriAt(bytes: Buffer, span: Span): string | undefined {
  const value = readValue(bytes, span);
  return typeof value === 'string' ? value : undefined;
}
