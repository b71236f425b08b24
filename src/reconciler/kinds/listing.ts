// Reads and checks the annotations with which a server requests an entry in the catalogue of running servers.
// ToolHive's annotations have the same names.

import type { CatalogueListing } from '#contracts/running-servers.ts';
import { definitionName } from '#contracts/tool-lock/schema.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { addressFault } from '#std/address/address.ts';
import { parseJson, pointerToken, textsIn } from '#std/json.ts';
import type { Finding, Resource, View } from './kind.ts';
import { lockOf } from './tools-lock.ts';

/** Maximum length of title and description in the official schema of server.json. */
const TEXT_MAX = 100;

interface ListingRule {
  readonly fits: (text: string) => boolean;
  readonly values: string;
}

const SHORT: ListingRule = {
  fits: (text) => text.trim() !== '' && text.length <= TEXT_MAX,
  values: `a text of at most ${TEXT_MAX} characters`,
};

/** Valid values of each annotation. Keys are the annotations' names after the API group and the slash. */
const RULES = {
  'registry-export': { fits: (text: string) => text === 'true' || text === 'false', values: '"true" or "false"' },
  'registry-url': {
    fits: (text: string) => addressFault('url', text) === undefined,
    values: 'an http or https URL without a user, such as https://mcp.example.com/wiki',
  },
  'registry-title': SHORT,
  'registry-description': SHORT,
  'registry-version': {
    fits: (text: string) => text !== 'latest' && /^[0-9A-Za-z][-+.0-9A-Za-z]{0,254}$/.test(text),
    values: 'a version such as 1.2.0',
  },
  tools: { fits: (text: string) => toolNames(text) !== undefined, values: 'a JSON list of names, such as ["search"]' },
} satisfies Record<string, ListingRule>;

type Name = keyof typeof RULES;

const NAMES = Object.keys(RULES) as readonly Name[];

/** Returns the catalogue entry of a server; undefined if the server requests no entry. Invalid values are ignored. */
export function listingOf(resource: Resource, view: View): CatalogueListing | undefined {
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

/** For `rules` of kinds with endpoints: finds invalid values of these annotations if registry-export is set. */
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

/**
 * Returns the tools of the tools lock. They take precedence over the annotation, because a person has reviewed their
 * definitions.
 */
function lockedTools(resource: Resource, view: View): readonly string[] | undefined {
  return lockOf(resource, view)?.tools.flatMap((tool) => definitionName('tools', tool) ?? []);
}

function toolNames(text: string): readonly string[] | undefined {
  const value = parseJson(text);
  return Array.isArray(value) && textsIn(value).length === value.length ? textsIn(value) : undefined;
}
