// Renders the actions for which nothing has to wait, and the last actions.

import { h } from 'preact';
import type { FleetState } from '../../../../run/fleet-state/format.ts';
import type { RecentAction } from '../../../../run/fleet-state/waiting-format.ts';
import { runAddress } from '../route.ts';
import { Time } from '../times.ts';
import { TitledList } from '../titled-list.ts';
import { SyncButton } from './act-buttons.ts';
import { ActionButton } from './action-dialog.ts';

interface StartProps {
  readonly say: (text: string) => void;
  readonly fleet: FleetState;
  readonly isPaused: boolean;
}

/** Renders the actions for which nothing has to wait. */
export function Start({ fleet, isPaused, say }: StartProps) {
  const registries = fleet.entries.filter(({ kind, namespace }) => kind === 'MCPRegistry' && namespace !== undefined);
  return h(
    'section',
    null,
    h('h2', null, 'Start something'),
    h(
      'div',
      { class: 'buttons start' },
      h(SyncButton, { say }),
      isPaused
        ? null
        : h(ActionButton, {
            ...{ name: 'suspend', input: {}, label: 'Suspend', title: 'Suspend the instance', confirm: 'Suspend', say },
            lead: 'Runs go on to read and report, and write nothing until someone resumes the instance.',
            done: 'Suspended. Runs write nothing.',
            everywhere: true,
            asksReason: true,
          }),
      registries.map(({ namespace, name, id }) =>
        h(ActionButton, {
          ...{ key: id, name: 'trigger', input: { namespace, name }, everywhere: false, say, confirm: 'Read it' },
          label: `Read registry ${namespace}/${name}`,
          title: `Read the sources of registry ${namespace}/${name}`,
          lead: 'A run reads all sources of the registry, even if they are not due.',
          done: `A run reads the sources of ${namespace}/${name} now.`,
        }),
      ),
    ),
  );
}

export function Recent({ actions, now }: { readonly actions: readonly RecentAction[]; readonly now: number }) {
  return h(TitledList, {
    title: 'Last actions',
    items: actions.map(({ at, by, action, about, result, code, run }) => [
      h(Time, { at, now }),
      ` ${by}: ${action}${about === '' ? '' : ` ${about}`}, ${result}${code === undefined ? '' : ` (${code})`} `,
      run === undefined ? null : h('a', { href: runAddress(run) }, `run ${run.slice(0, 8)}`),
    ]),
  });
}
