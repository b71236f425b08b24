// Resolves the user interfaces of members (SEP-1865, MCP Apps): makes equal URIs distinct, and finds the tools that
// user interfaces call.

import { type AppMarks, UNMARKED } from '../../wire/extensions/app-marks.ts';
import type { MemberRoute, ToolRoute } from '../own-tools/ports.ts';
import type { OfferingMember } from './rules.ts';

const SCHEME = 'ui://';
const OF_MEMBER = 'ui://skep/';

/** Returns a URI that contains the member's name. `own` is the member's `ui://` URI. */
export function memberAppUri({ member, own }: MemberRoute): string {
  return `${OF_MEMBER}${encodeURIComponent(member)}/${own.slice(SCHEME.length)}`;
}

/** Reads a URI of `memberAppUri`. Returns undefined for other URIs. */
export function readMemberAppUri(uri: string): MemberRoute | undefined {
  if (!uri.startsWith(OF_MEMBER)) return undefined;
  const slash = uri.indexOf('/', OF_MEMBER.length);
  const member = slash <= OF_MEMBER.length ? undefined : decodeMember(uri.slice(OF_MEMBER.length, slash));
  return member === undefined ? undefined : { member, own: SCHEME + uri.slice(slash + 1) };
}

function decodeMember(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export function isAppUri(uri: string): boolean {
  return uri.startsWith(SCHEME);
}

export interface Apps {
  /** True if a member has a user interface. */
  readonly any: boolean;
  /** Returns the URI under which clients know a resource of a member. */
  uriOf(resource: MemberRoute): string;
  /** Returns whether several members use the URI. */
  isShared(uri: string): boolean;
  /** Returns the member with this URI. Returns undefined if no member or several members use the URI. */
  ownerOf(uri: string): string | undefined;
  /** Returns the facts about user interfaces in the tool's `_meta`. `own` is the member's name of the tool. */
  marksOf(member: string, own: string): AppMarks;
  /** Returns the members that have user interfaces and a tool with this own name, listed or hidden. */
  membersWith(own: string): ReadonlySet<string>;
}

export function findApps(members: readonly OfferingMember[]): Apps {
  const marks = new Map(members.map((member) => [member.name, marksByTool(member)]));
  const owners = new Map<string, Set<string>>();
  const byTool = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, key: string, member: string) => {
    map.set(key, (map.get(key) ?? new Set()).add(member));
  };
  let any = false;
  for (const { name, lists } of members) {
    const tools = marks.get(name) ?? new Map();
    const uris = [...tools.values()].flatMap((each) => each.uris);
    if (uris.length > 0) for (const own of tools.keys()) add(byTool, own, name);
    any ||= uris.length > 0;
    for (const uri of [...uris, ...lists.lists.resources.map(({ key }) => key)])
      if (isAppUri(uri)) add(owners, uri, name);
  }
  const isShared = (uri: string) => (owners.get(uri)?.size ?? 0) > 1;
  return {
    any,
    // A member's URI that imitates a URI of `memberAppUri` is replaced too.
    uriOf: (route) => (isShared(route.own) || route.own.startsWith(OF_MEMBER) ? memberAppUri(route) : route.own),
    isShared,
    ownerOf(uri) {
      const [owner, ...others] = owners.get(uri) ?? [];
      return others.length === 0 ? owner : undefined;
    },
    marksOf: (member, own) => marks.get(member)?.get(own) ?? UNMARKED,
    membersWith: (own) => byTool.get(own) ?? NO_MEMBERS,
  };
}

const NO_MEMBERS: ReadonlySet<string> = new Set();

/**
 * Returns the facts about user interfaces, by tool. Of several tools with the same name, uses the first, as calls do.
 */
function marksByTool({ lists }: OfferingMember): ReadonlyMap<string, AppMarks> {
  const marks = new Map<string, AppMarks>();
  for (const { key, marks: each = UNMARKED } of lists.lists.tools) if (!marks.has(key)) marks.set(key, each);
  return marks;
}

/**
 * Returns the clients' names of tools, by the names that user interfaces use. Clients do not say which user interface
 * calls a tool. A name is therefore included only if exactly one member with user interfaces has a tool with this name,
 * listed or hidden.
 */
export function appToolNames(routes: Iterable<ToolRoute>, apps: Apps): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { advertised, member, own, name } of routes) {
    const having = apps.membersWith(own);
    if (advertised && having.size === 1 && having.has(member) && apps.marksOf(member, own).forApp) names.set(own, name);
  }
  return names;
}
