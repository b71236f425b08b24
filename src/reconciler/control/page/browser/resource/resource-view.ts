// Renders one resource: its state and the reason, the next steps, its differences from Git, its objects, and its
// manifest.

import { type ComponentChildren, h } from 'preact';
import { Section, Table, Unread } from '#std/page/shared/kit/section.ts';
import { StateWord } from '#std/page/shared/kit/states.ts';
import type { FleetEntry, FleetState } from '../../../../run/fleet-state/format.ts';
import type { Answer, Api } from '../api.ts';
import { Contents } from '../contents.ts';
import { FLEET, runAddress } from '../route.ts';
import { Lasting } from '../times.ts';
import { useRead } from '../use-read.ts';
import { adviceOn } from './advice.ts';
import { Commands } from './commands.ts';
import { areDifferent, Differences } from './differences.ts';
import { ObjectTree } from './object-tree.ts';
import { OfferView } from './offer-view.ts';
import { Calls } from './pods/calls.ts';
import { EventList } from './pods/event-list.ts';
import { LogView } from './pods/log-view.ts';
import { Relations } from './relations.ts';
import type { ResourceDetail } from './resource-format.ts';
import { VirtualServer } from './virtual-server/virtual-server.ts';

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
  const none = () => new Promise<never>(() => undefined);
  const answer = useRead(() => (isSource ? none() : api.resource(id)), [api, id, isSource, revision]);
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
    h(Contents, null),
    h(Body, { api, id, answer, isSource, entry, now, revision }),
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
      commit === undefined ? null : fact('Commit', h(Linked, { text: commit.slice(0, 10), url: detail?.commitUrl })),
      detail?.file === undefined
        ? null
        : fact('Manifest', h(Linked, { text: `${detail.file}:${detail.line}`, url: detail.fileUrl })),
    ),
  );
}

function fact(name: string, ...value: ComponentChildren[]) {
  return h('div', { key: name }, h('dt', null, name), h('dd', { class: 'text' }, value));
}

/** Renders a text as a link, whose URL belongs to the repository in skep.yaml. */
function Linked({ text, url }: { readonly text: string; readonly url: string | undefined }) {
  const code = h('code', null, text);
  return url === undefined || !/^https?:\/\//.test(url)
    ? code
    : h('a', { href: url, rel: 'noreferrer', target: '_blank' }, code);
}

interface BodyProps extends Pick<Props, 'api' | 'id' | 'now' | 'revision'> {
  readonly answer: Answer<ResourceDetail> | undefined;
  readonly isSource: boolean;
  readonly entry: FleetEntry | undefined;
}

function Body({ api, id, answer, isSource, entry, now, revision }: BodyProps) {
  if (isSource) return null;
  if (answer === undefined) return h('p', { class: 'hint' }, 'Reading the cluster');
  if (!answer.ok) return h('p', { class: 'banner', role: 'alert' }, `More cannot be shown: ${answer.says}.`);
  const {
    problems,
    changes,
    objects,
    omitted,
    conditions,
    manifest,
    line,
    unread,
    resource,
    offer,
    events,
    eventsUnread,
  } = answer.body;
  const hasPods = objects.some(({ pods = [] }) => pods.length > 0);
  return h(
    'div',
    { class: 'details' },
    unread === undefined
      ? null
      : h('p', { class: 'banner text', role: 'alert' }, `The cluster was not read: ${unread}.`),
    h(Problems, { problems, advice: entry === undefined ? [] : adviceOn(entry, answer.body) }),
    objects.length === 0 || !areDifferent(objects) ? null : h(Differences, { objects, omitted }),
    h(LastChanges, { changes }),
    hasPods ? h(Readings, { api, id, now, revision }) : null,
    offer === undefined ? null : h(OfferView, { offer }),
    objects.length === 0 || areDifferent(objects) ? null : h(Differences, { objects, omitted }),
    objects.length === 0 ? null : h(ObjectTree, { root: resource, objects, omitted }),
    h(EventList, { events, eventsUnread, now }),
    hasPods ? h(LogView, { api, id }) : null,
    conditions.length === 0 ? null : h(Conditions, { conditions }),
    entry === undefined ? null : h(Commands, { entry, detail: answer.body }),
    manifest === undefined ? null : h(Manifest, { manifest, line: line ?? 1 }),
  );
}

/** Renders what the pods say about themselves: calls and, of a virtual server, its parts. */
function Readings({ api, id, now, revision }: Omit<BodyProps, 'answer' | 'isSource' | 'entry'>) {
  const answer = useRead(() => api.readings(id), [api, id, revision]);
  if (answer === undefined) return h('p', { class: 'hint' }, 'Reading the metrics');
  const { virtualServer, virtualServerUnread } = answer.ok ? answer.body : {};
  return [
    h(Calls, { answer }),
    virtualServer === undefined ? null : h(VirtualServer, { document: virtualServer, now }),
    virtualServerUnread === undefined
      ? null
      : h(Section, { title: 'Members' }, h(Unread, { what: 'The virtual server', why: virtualServerUnread })),
  ];
}

function Problems({ problems, advice }: Pick<ResourceDetail, 'problems'> & { readonly advice: readonly string[] }) {
  if (problems.length + advice.length === 0) return null;
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
  const next = advice.map((text) => h('li', { key: text, class: 'warning' }, text));
  return h(
    Section,
    { title: problems.length === 0 ? 'What to do' : 'Problems' },
    h('ul', { class: 'problem-list', role: 'list' }, lines, next),
  );
}

/** Renders the result of each change that the last run made of the resource and its objects. */
function LastChanges({ changes }: Pick<ResourceDetail, 'changes'>) {
  if (changes.length === 0) return null;
  return h(
    Section,
    { title: 'Changed by the last run', count: changes.length },
    h(Table, {
      label: 'Changes of the last run',
      head: ['Object', 'Result'],
      rows: changes.map(({ resource, action, error }) => [
        resource,
        error === undefined ? action : h('span', { class: 'problem' }, `${action}: ${error.message} [${error.code}]`),
      ]),
    }),
  );
}

function Conditions({ conditions }: Pick<ResourceDetail, 'conditions'>) {
  return h(
    Section,
    { title: 'Conditions' },
    h(Table, {
      label: 'Conditions',
      head: ['Condition', 'Status', 'Reason', 'Message'],
      rows: conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
    }),
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
