// Renders one resource: its state and the reason, the next steps, its differences from Git, its objects, and its
// manifest.

import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FleetEntry, FleetState } from '../../../../run/fleet-state/format.ts';
import type { Answer, Api } from '../api.ts';
import { FLEET, runAddress } from '../route.ts';
import { StateWord } from '../states.ts';
import { Lasting } from '../times.ts';
import { Commands } from './commands.ts';
import { Differences } from './differences.ts';
import { ObjectTree } from './object-tree.ts';
import { Relations } from './relations.ts';
import type { ResourceDetail } from './resource-format.ts';

interface Props {
  readonly api: Api;
  readonly fleet: FleetState;
  readonly id: string;
  readonly now: number;
  readonly revision: number;
}

export function ResourceView({ api, fleet, id, now, revision }: Props) {
  const entry = fleet.entries.find((each) => each.id === id);
  const isSource = entry?.role === 'source';
  const [answer, setAnswer] = useState<Answer<ResourceDetail>>();
  useEffect(() => {
    let isCurrent = true;
    if (!isSource) void api.resource(id).then((next) => isCurrent && setAnswer(next));
    return () => {
      isCurrent = false;
    };
  }, [api, id, isSource, revision]);
  return h(
    'main',
    { class: 'page', tabIndex: -1 },
    h(
      'nav',
      { class: 'crumbs', 'aria-label': 'Breadcrumb' },
      h('a', { href: FLEET }, 'Fleet'),
      ' / ',
      h('span', { class: 'text' }, id),
    ),
    entry === undefined
      ? h('h1', null, 'The last run knew no such resource')
      : h(Title, { entry, fleet, now, detail: answer?.ok === true ? answer.body : undefined }),
    entry === undefined ? null : h(Relations, { entry, entries: fleet.entries }),
    h(Body, { answer, isSource, entry }),
  );
}

interface TitleProps {
  readonly entry: FleetEntry;
  readonly fleet: FleetState;
  readonly now: number;
  readonly detail: ResourceDetail | undefined;
}

function Title({ entry, fleet, now, detail }: TitleProps) {
  const { state, name, why, since, kind, namespace, source } = entry;
  const commit = detail?.commit ?? fleet.run?.commits[entry.role === 'source' ? name : (source ?? '')];
  return h(
    'div',
    { class: 'title' },
    h('h1', null, h('span', { class: 'text' }, name), h('span', { class: 'soft kind' }, kind)),
    h('p', { class: 'reason text' }, h(StateWord, { state }), ' ', why),
    h(
      'dl',
      { class: 'facts' },
      fact(
        'In this state',
        h(Lasting, { since, now }),
        ', since ',
        h('a', { href: runAddress(since.run) }, `run ${since.run.slice(0, 8)}`),
      ),
      namespace === undefined ? null : fact('Namespace', namespace),
      source === undefined ? null : fact('Source', source),
      commit === undefined ? null : fact('Commit', h(Commit, { commit, url: detail?.commitUrl })),
      detail?.file === undefined ? null : fact('Manifest', h('code', null, `${detail.file}:${detail.line}`)),
    ),
  );
}

function fact(name: string, ...value: ComponentChildren[]) {
  return h('div', { key: name }, h('dt', null, name), h('dd', { class: 'text' }, value));
}

/** Renders a commit as a link, whose URL belongs to the repository in skep.yaml. */
function Commit({ commit, url }: { readonly commit: string; readonly url: string | undefined }) {
  const short = h('code', null, commit.slice(0, 10));
  return url === undefined || !/^https?:\/\//.test(url)
    ? short
    : h('a', { href: url, rel: 'noreferrer', target: '_blank' }, short);
}

interface BodyProps {
  readonly answer: Answer<ResourceDetail> | undefined;
  readonly isSource: boolean;
  readonly entry: FleetEntry | undefined;
}

function Body({ answer, isSource, entry }: BodyProps) {
  if (isSource) return null;
  if (answer === undefined) return h('p', { class: 'hint' }, 'Reading the cluster');
  if (!answer.ok) return h('p', { class: 'banner', role: 'alert' }, `More cannot be shown: ${answer.says}.`);
  const { problems, objects, omitted, conditions, manifest, line, unread, resource } = answer.body;
  return h(
    'div',
    { class: 'details' },
    unread === undefined
      ? null
      : h('p', { class: 'banner text', role: 'alert' }, `The cluster was not read: ${unread}.`),
    h(Problems, { problems }),
    objects.length === 0 ? null : h(Differences, { objects, omitted }),
    objects.length === 0 ? null : h(ObjectTree, { root: resource, objects, omitted }),
    conditions.length === 0 ? null : h(Conditions, { conditions }),
    entry === undefined ? null : h(Commands, { entry, detail: answer.body }),
    manifest === undefined ? null : h(Manifest, { manifest, line: line ?? 1 }),
  );
}

function Problems({ problems }: Pick<ResourceDetail, 'problems'>) {
  if (problems.length === 0) return null;
  const lines = problems.map(({ code, severity, message, file, line }) =>
    h(
      'li',
      { class: severity === 'error' ? 'problem' : 'warning' },
      h('p', { class: 'text' }, message),
      h(
        'p',
        { class: 'soft text' },
        h('code', null, code),
        file === undefined ? '' : ` in ${file}:${line}. Correct it there and commit.`,
      ),
    ),
  );
  return h('section', null, h('h2', null, 'Problems'), h('ul', { class: 'problem-list', role: 'list' }, lines));
}

function Conditions({ conditions }: Pick<ResourceDetail, 'conditions'>) {
  const rows = conditions.map(({ type, status, reason, message }) =>
    h(
      'tr',
      { key: type },
      [type, status, reason, message].map((cell, index) =>
        index === 0 ? h('th', { class: 'condition', scope: 'row' }, cell) : h('td', { class: 'text' }, cell),
      ),
    ),
  );
  const head = ['Condition', 'Status', 'Reason', 'Message'].map((name) => h('th', { scope: 'col' }, name));
  return h(
    'section',
    null,
    h('h2', null, 'Conditions'),
    h(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Conditions' },
      h('table', null, h('thead', null, h('tr', null, head)), h('tbody', null, rows)),
    ),
  );
}

function Manifest({ manifest, line }: { readonly manifest: string; readonly line: number }) {
  return h(
    'section',
    null,
    h('h2', null, 'Manifest in Git'),
    h('pre', { class: 'manifest', tabIndex: 0, 'aria-label': `Manifest, declared at line ${line}` }, manifest),
  );
}
