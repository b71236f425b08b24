// Renders what a server offers to whom: how callers authenticate, its tools, and the policies that decide about calls.

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { More } from '#std/page/shared/kit/more.ts';
import { Section, Table, Unread } from '#std/page/shared/kit/section.ts';
import type { OfferedTool, ShownOffer } from '../../../../run/fleet-state/offer-format.ts';

/** Number of tools that are shown at first, and that a click adds. */
const TOOLS = 30;

export function OfferView({ offer }: { readonly offer: ShownOffer }) {
  const { access, url, transport, tools, unlisted, clashes, optimizer, policies, policiesUnread } = offer;
  return h(
    Section,
    { title: 'What it offers, and to whom' },
    h('p', null, accessText(access), ' ', policyText(offer)),
    h('p', { class: 'soft text' }, h('code', null, url), ` (${transport})`),
    optimizer ? h('p', null, 'Clients see find_tool and call_tool, with which they find the tools.') : null,
    policiesUnread === undefined ? null : h(Unread, { what: 'The policies', why: policiesUnread }),
    tools.length === 0 ? null : h(Tools, { tools, policies: policies ?? [] }),
    unlisted.length === 0 ? null : h('p', { class: 'hint text' }, unlistedText(unlisted)),
    clashes.length === 0
      ? null
      : h('p', { class: 'problem text' }, `Several members have tools of these names: ${clashes.join(', ')}.`),
    policies === undefined ? null : h(Policies, { policies }),
  );
}

function accessText(access: ShownOffer['access']): string {
  switch (access.type) {
    case 'anonymous':
      return 'Callers need no token.';
    case 'unknown':
      return 'How callers authenticate is not known: the settings cannot be read.';
    case 'oidc': {
      const { issuer, audience, account } = access;
      const forWhom = account === undefined ? '' : ` for the account ${account}`;
      return `Callers need a token of ${issuer}${forWhom}${audience === undefined ? '' : `, for the audience ${audience}`}.`;
    }
  }
}

function policyText({ policies, policiesUnread }: ShownOffer): string {
  if (policiesUnread !== undefined) return 'Policies decide which tools they may call.';
  if (policies === undefined) return 'They may call every tool.';
  return `${policies.length === 1 ? 'One policy decides' : `${policies.length} policies decide`} which tools they may call.`;
}

function unlistedText(unlisted: readonly string[]): string {
  const members = unlisted.filter((name) => name !== '');
  const lock = 'A ToolLock in Git would list and review them (skep lock).';
  if (members.length === 0) return `Git does not say which tools it has. ${lock}`;
  return `Git does not say which tools ${members.join(', ')} ${members.length === 1 ? 'has' : 'have'}. ${lock}`;
}

function Tools({ tools, policies }: { readonly tools: readonly OfferedTool[]; readonly policies: readonly string[] }) {
  const [count, setCount] = useState(TOOLS);
  const isVirtual = tools.some(({ member }) => member !== undefined);
  const hasPolicies = policies.length > 0;
  const head = ['Tool', ...(isVirtual ? ['Member'] : []), ...(hasPolicies ? ['Policies that name it'] : [])];
  return [
    h(Table, {
      label: 'Tools',
      head,
      rows: tools
        .slice(0, count)
        .map(({ name, member, own }) => [
          h('code', null, name),
          ...(isVirtual ? [`${member ?? 'its own'}${own === undefined ? '' : `, there ${own}`}`] : []),
          ...(hasPolicies ? [namedBy(name, policies)] : []),
        ]),
    }),
    h(More, { left: tools.length - count, step: TOOLS, more: () => setCount(count + TOOLS) }),
  ];
}

/** Policies name tools as `Tool::"name"`. A policy that names no tool counts for all. */
function namedBy(name: string, policies: readonly string[]): string {
  const named = policies.flatMap((text, index) => (text.includes(`Tool::${JSON.stringify(name)}`) ? [index + 1] : []));
  return named.length === 0 ? 'none' : named.join(', ');
}

function Policies({ policies }: { readonly policies: readonly string[] }) {
  return h(
    'details',
    { class: 'folded-part' },
    h('summary', null, h('span', { class: 'name' }, policies.length === 1 ? 'The policy' : 'The policies')),
    h(
      'ol',
      { class: 'policies' },
      policies.map((text, index) => h('li', { key: index }, h('pre', { class: 'text' }, text.trim()))),
    ),
  );
}
