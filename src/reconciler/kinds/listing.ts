// Reads the annotations of the existing platform by which a server asks for an entry in the catalogue of what runs, and finds faults
// of them.

import type { Listing } from '#contracts/running-servers.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { isObject, type Json, objectsIn, parseJson, pointerToken, textsIn } from '#std/json.ts';
import type { Finding, Resource, View } from './kind.ts';

/** Longest title and description of a server.json (official schema). */
const TEXT_MAX = 100;

interface Rule {
  readonly fits: (text: string) => boolean;
  readonly values: string;
}

const SHORT: Rule = {
  fits: (text) => text.trim() !== '' && text.length <= TEXT_MAX,
  values: `a text of at most ${TEXT_MAX} characters`,
};

/** By the name behind the API group and the slash. */
const RULES = {
  'registry-export': { fits: (text: string) => text === 'true' || text === 'false', values: '"true" or "false"' },
  'registry-url': {
    fits: isAddress,
    values: 'an http or https URL without a user, such as https://mcp.example.com/wiki',
  },
  'registry-title': SHORT,
  'registry-description': SHORT,
  'registry-version': {
    fits: (text: string) => text !== 'latest' && /^[0-9A-Za-z][-+.0-9A-Za-z]{0,254}$/.test(text),
    values: 'a version such as 1.2.0',
  },
  tools: { fits: (text: string) => toolNames(text) !== undefined, values: 'a JSON list of names, such as ["search"]' },
} satisfies Record<string, Rule>;

type Name = keyof typeof RULES;

const NAMES = Object.keys(RULES) as readonly Name[];

/** Returns the listing of a server; undefined if it asks for none. A value that does not fit counts as absent. */
export function listingOf(resource: Resource, view: View): Listing | undefined {
  const read = (name: Name): string | undefined => {
    const text = resource.metadata.annotations?.[`${groupOf(resource.apiVersion)}/${name}`];
    return text !== undefined && RULES[name].fits(text) ? text : undefined;
  };
  if (read('registry-export') !== 'true') return undefined;
  return {
    kind: resource.kind,
    uid: resource.metadata.uid,
    url: read('registry-url'),
    title: read('registry-title'),
    description: read('registry-description'),
    version: read('registry-version'),
    tools: lockedTools(resource, view) ?? toolNames(read('tools') ?? ''),
  };
}

/** For `rules` of kinds that clients reach. */
export function listingFindings({ apiVersion, metadata }: Resource): readonly Finding[] {
  const prefix = `${groupOf(apiVersion)}/`;
  if (metadata.annotations?.[`${prefix}registry-export`] === undefined) return [];
  return NAMES.flatMap((name): readonly Finding[] => {
    const text = metadata.annotations?.[prefix + name];
    if (text === undefined || RULES[name].fits(text)) return [];
    const pointer = `/metadata/annotations/${pointerToken(prefix + name)}`;
    return [
      {
        code: 'annotation-invalid',
        severity: 'error',
        pointer,
        message: `${prefix}${name} must be ${RULES[name].values}`,
      },
    ];
  });
}

/** A lock that was reviewed says more than an annotation. */
function lockedTools({ kind, metadata }: Resource, view: View): readonly string[] | undefined {
  const spec = view.find('ToolLock', metadata.name)?.spec;
  if (!isObject(spec) || !isObject(spec.server) || spec.server.kind !== kind) return undefined;
  return objectsIn(spec.tools).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

function toolNames(text: string): readonly string[] | undefined {
  const value: Json | undefined = parseJson(text);
  return Array.isArray(value) && textsIn(value).length === value.length ? textsIn(value) : undefined;
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
