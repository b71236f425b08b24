// Renders the buttons of actions that several views offer: the sync, and the approval of deletions and the rollback, which
// show first what they would do.

import { h } from 'preact';
import { ActionButton, ExactList } from './action-dialog.ts';
import type { ShownApproval, ShownRollback } from './waiting-format.ts';

interface ApproveProps {
  readonly hash: string;
  readonly say: (text: string) => void;
}

export function ApproveButton({ hash, say }: ApproveProps) {
  return h(ActionButton<ShownApproval>, {
    name: 'approve',
    input: { hash },
    label: 'Approve',
    title: 'Approve these deletions',
    confirm: 'Delete',
    done: 'Approved. A run makes the deletions now.',
    everywhere: false,
    kind: 'danger',
    say,
    preview: ({ list }) => [
      h('p', null, `A run deletes exactly ${objectsText(list.deletions.length)}:`),
      h(ExactList, { label: 'Objects to be deleted', items: list.deletions.flatMap(deletionLines) }),
    ],
    tick: ({ list }) => `I have read the list. Delete ${objectsText(list.deletions.length)}.`,
  });
}

function deletionLines({ id, replaced, takes = [], mayTake = [] }: ShownApproval['list']['deletions'][number]) {
  return [
    `${id}${replaced === true ? ', and it is created again' : ''}`,
    ...takes.map((each) => h('span', { class: 'problem' }, `${id} also deletes ${each}`)),
    ...mayTake.map((kind) => h('span', { class: 'problem' }, `${id} also deletes all objects of ${kind}`)),
  ];
}

function objectsText(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`;
}

interface RollbackProps {
  /** Id of the run. */
  readonly run: string;
  readonly say: (text: string) => void;
}

export function RollbackButton({ run, say }: RollbackProps) {
  return h(ActionButton<ShownRollback>, {
    name: 'rollback',
    input: { run },
    label: 'Roll back to this run',
    title: `Roll back to run ${run.slice(0, 8)}`,
    confirm: 'Roll back',
    done: 'Rolled back. A run makes the changes now.',
    everywhere: true,
    kind: 'danger',
    say,
    preview: ({ commits, changes }) => [
      commits.length === 0
        ? h('p', null, 'No source has another commit than in this run.')
        : h(ExactList, {
            label: 'Commits',
            items: commits.map(
              ({ source, good, bad }) => `${source}: from ${bad.slice(0, 10)} back to ${good.slice(0, 10)}`,
            ),
          }),
      h('p', null, changes.length === 0 ? 'No object changes.' : `Changes of ${objectsText(changes.length)}:`),
      changes.length === 0 ? null : h(ExactList, { label: 'Changes', items: changes.map(changeText) }),
      h('p', { class: 'hint' }, 'The sources stay at these commits until their branches have newer ones.'),
    ],
    tick: () => 'I have read the changes. Make them.',
  });
}

function changeText({ action, resource, waits }: ShownRollback['changes'][number]): string {
  return `${action} ${resource}${waits === true ? ', after an approval' : ''}`;
}

export function SyncButton({ say }: Pick<RollbackProps, 'say'>) {
  return h(ActionButton, {
    ...{ name: 'sync', input: {}, label: 'Sync now', title: 'Sync now', confirm: 'Sync', say },
    lead: 'A run reads Git and the cluster now, and makes the differences right.',
    done: 'A run begins now.',
    everywhere: true,
  });
}
