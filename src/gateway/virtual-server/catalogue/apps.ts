// User interfaces of members (SEP-1865, MCP Apps): the URIs that tell equal ones of two members apart, and the tools that they
// call by the names that their own servers gave them. Pure.

import { type AppMarks, readAppMarks } from '../../wire/extensions/app-marks.ts';
import type { Route, ToolRoute } from '../own-tools/ports.ts';
import type { OfferedItem } from './lists.ts';
import type { OfferingMember } from './rules.ts';

const SCHEME = 'ui://';
const OF_MEMBER = 'ui://skep/';

/** A URI that no other member has, whatever members come and go. */
export function memberAppUri({ member, own }: Route): string {
  return `${OF_MEMBER}${member}/${own.slice(SCHEME.length)}`;
}

/** What such a URI leads to; undefined for other URIs. */
export function readMemberAppUri(uri: string): Route | undefined {
  if (!uri.startsWith(OF_MEMBER)) return undefined;
  const slash = uri.indexOf('/', OF_MEMBER.length);
  if (slash <= OF_MEMBER.length) return undefined;
  return { member: uri.slice(OF_MEMBER.length, slash), own: SCHEME + uri.slice(slash + 1) };
}

export interface Apps {
  /** Some member has a user interface. */
  readonly any: boolean;
  /** The URI under which clients know a resource of a member. */
  uriOf(resource: Route): string;
  /** Several members have the URI, so it leads nowhere. */
  isShared(uri: string): boolean;
  /** The only member that has a user interface of this URI. */
  ownerOf(uri: string): string | undefined;
  /** The marks of a tool of a member, by its own name. */
  marksOf(member: string, own: string): AppMarks | undefined;
  /** Some tool of the member has a user interface. */
  hasApps(member: string): boolean;
}

export function findApps(members: readonly OfferingMember[]): Apps {
  const marks = new Map(members.map(({ name, lists }) => [name, marksOf(lists.lists.tools)]));
  const withApps = new Set([...marks].flatMap(([name, tools]) => (hasUri(tools.values()) ? [name] : [])));
  const owners = new Map<string, Set<string>>();
  for (const { name, lists } of members) {
    const ofTools = [...(marks.get(name)?.values() ?? [])].flatMap(({ uris }) => uris);
    for (const uri of [...ofTools, ...lists.lists.resources.map(({ key }) => key)]) {
      if (uri.startsWith(SCHEME)) owners.set(uri, (owners.get(uri) ?? new Set()).add(name));
    }
  }
  const isShared = (uri: string) => (owners.get(uri)?.size ?? 0) > 1;
  return {
    any: withApps.size > 0,
    // A URI that looks as if it were another member's is given one as well.
    uriOf: (route) => (isShared(route.own) || route.own.startsWith(OF_MEMBER) ? memberAppUri(route) : route.own),
    isShared,
    ownerOf(uri) {
      const [owner, ...others] = owners.get(uri) ?? [];
      return others.length === 0 ? owner : undefined;
    },
    marksOf: (member, own) => marks.get(member)?.get(own),
    hasApps: (member) => withApps.has(member),
  };
}

function marksOf(tools: readonly OfferedItem[]): ReadonlyMap<string, AppMarks> {
  return new Map(
    tools.map(({ key, page, item }) => [key, readAppMarks(page.subarray(item.span.start, item.span.end))]),
  );
}

function hasUri(tools: Iterable<AppMarks>): boolean {
  return [...tools].some(({ uris }) => uris.length > 0);
}

/**
 * What clients call the tool that a user interface calls by its own name. A client does not say which user interface calls, so
 * the name must be the own name of one tool alone among the members that have user interfaces.
 */
export function appToolNames(routes: Iterable<ToolRoute>, apps: Apps): ReadonlyMap<string, string> {
  const callable = [...routes].filter(
    ({ advertised, member, own }) => advertised && apps.hasApps(member) && apps.marksOf(member, own)?.forApp === true,
  );
  const byOwnName = Map.groupBy(callable, ({ own }) => own);
  return new Map(
    [...byOwnName].flatMap(([own, [only, ...others]]) => (only && others.length === 0 ? [[own, only.name]] : [])),
  );
}
