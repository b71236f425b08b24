// Renders the impact of a change on clients as lines for people.

import { formatId } from '#std/problem.ts';
import type { DefinitionsImpact } from '../run/impact/definitions.ts';
import type { AuthImpact, EndpointImpact, ToolsImpact } from '../run/impact/endpoints.ts';
import type { Impact } from '../run/impact/impact.ts';
import type { RegistryImpact } from '../run/impact/registries.ts';
import type { Style } from './command.ts';
import { sentenceOf } from './fold.ts';

/** An endpoint, registry or server, with the changes for its clients. */
export interface Notice {
  readonly action: 'appears' | 'disappears' | 'changes';
  /** Id as `namespace/Kind/name`. For a registry, the name of the source follows. */
  readonly id: string;
  /** Sentences, one per line. */
  readonly lines: readonly string[];
}

export function noticesOf({ endpoints, registries, definitions }: Impact): readonly Notice[] {
  return [
    ...endpoints.map(noticeOfEndpoint),
    ...definitions.map(noticeOfDefinitions),
    ...registries.map(noticeOfRegistry),
  ];
}

const LISTS = { tools: 'tools', prompts: 'prompts', resourceTemplates: 'resource templates' } as const;

/** Returns a notice about changed tool definitions, which models read. */
function noticeOfDefinitions({ resource, list, changed, added, removed }: DefinitionsImpact): Notice {
  const lines = [
    ...listLine(`${LISTS[list]} with another definition, which is accepted as reviewed`, changed),
    ...listLine(`${LISTS[list]} that are accepted as reviewed`, added),
    ...listLine(`${LISTS[list]} that are no longer accepted`, removed),
  ];
  return { action: 'changes', id: formatId(resource), lines };
}

export function restartedIds({ restarts }: Impact): readonly string[] {
  return restarts.map(({ resource }) => formatId(resource));
}

const MARKS = { appears: '+', disappears: '-', changes: '~' } as const;

/** Returns the lines; empty if the change has no effect on clients. */
export function textOfImpact(impact: Impact, style: Style): readonly string[] {
  const notices = noticesOf(impact).flatMap(({ action, id, lines }) => [
    `  ${MARKS[action]} ${id}`,
    ...lines.map((line) => `      ${line}`),
  ]);
  const restarted = restartedIds(impact);
  return [
    ...(notices.length === 0 ? [] : ['what clients notice:', ...notices]),
    ...(restarted.length === 0 ? [] : sentenceOf('pods are replaced', restarted, style)),
  ];
}

function noticeOfEndpoint({ resource, action, url, tools, ...rest }: EndpointImpact): Notice {
  const id = formatId(resource);
  if (action === 'appears') return { action, id, lines: [`is reached at ${url}`, ...toolLines(tools)] };
  if (action === 'disappears') return { action, id, lines: [`is no longer at ${url}`, ...toolLines(tools)] };
  const { moved, transport, auth, optimizer } = rest;
  return {
    action,
    id,
    lines: [
      ...(moved === undefined ? [] : [`moves from ${moved.before} to ${moved.after}: clients must be changed`]),
      ...(transport === undefined ? [] : [`speaks ${transport.after} instead of ${transport.before}`]),
      ...(auth === undefined ? [] : [authLine(auth)]),
      ...(optimizer === undefined ? [] : [OPTIMIZER[optimizer]]),
      ...toolLines(tools),
    ],
  };
}

const OPTIMIZER = {
  on: 'clients see find_tool and call_tool only, and find the other tools by them',
  off: 'clients see all tools, and no longer find_tool and call_tool',
} as const;

function authLine({ before, after, refusesToday }: AuthImpact): string {
  switch (after.type) {
    case 'anonymous':
      return 'anyone may call: no token is required any more';
    case 'unknown':
      return 'the issuer of accepted tokens cannot be read';
    case 'oidc':
      break;
  }
  if (!refusesToday) return widerLine(before, after);
  if (before.type !== 'oidc') return `callers without a token of ${after.issuer} are refused from now on`;
  if (before.issuer !== after.issuer) {
    return `the tokens of today are refused: the issuer is ${after.issuer}, no longer ${before.issuer}`;
  }
  if (after.account !== undefined && before.account !== after.account) {
    const accounts = before.account === undefined ? 'every account' : before.account;
    return `the tokens of today are refused: they must be of service account ${after.account}, no longer of ${accounts}`;
  }
  const earlier = before.audience === undefined ? 'for any' : `for ${before.audience}`;
  return `the tokens of today are refused: they must be issued for audience ${after.audience}, no longer ${earlier}`;
}

function widerLine(before: AuthImpact['before'], { issuer, audience }: { issuer: string; audience?: string }): string {
  const sameAudience = before.type === 'oidc' && before.audience === audience;
  if (sameAudience) return `tokens of every service account of ${issuer} are accepted`;
  return `tokens of ${issuer} for any audience are accepted`;
}

function toolLines({ appear, disappear, renamed, clashes, uncertain }: ToolsImpact): readonly string[] {
  return [
    ...listLine('removed tools', disappear),
    ...renamed.map(({ before, after }) => `tool ${before} is called ${after} now`),
    ...listLine('new tools', appear),
    ...listLine('names of several members, without a rule that distinguishes them', clashes),
    ...(uncertain
      ? ['its tools may differ: a server has changed, and no registry in a ConfigMap lists its tools']
      : []),
  ];
}

/** Returns one line with the names. Leaves out `*`, which stands for tools whose names are unknown. */
function listLine(what: string, names: readonly string[]): readonly string[] {
  const named = names.filter((name) => name !== '*');
  return named.length === 0 ? [] : [`${what}: ${named.join(', ')}`];
}

function noticeOfRegistry({ resource, source, action, ...servers }: RegistryImpact): Notice {
  const { appear, disappear, renamed, unknown } = servers;
  return {
    action,
    id: `${formatId(resource)}/${source}`,
    lines: [
      ...listLine('removed servers', disappear),
      ...renamed.map(({ before, after }) => `server ${before} is called ${after} now`),
      ...listLine('new servers', appear),
      ...unknown.map((what) => `its ${what} changes; its servers are known when it is synced`),
    ],
  };
}
