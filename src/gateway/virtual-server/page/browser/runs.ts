// Shows the last runs of workflows with their results and steps.

import { element } from '#std/page/shared/elements.ts';
import type { WorkflowRunView } from './api.ts';
import { named, textList } from './dom.ts';

export function runsView(runs: readonly WorkflowRunView[]): HTMLElement {
  return element(
    'section',
    {},
    element('h2', {}, 'Last runs'),
    runs.length === 0 ? element('p', { class: 'hint' }, 'No workflow has run since this replica started.') : undefined,
    ...runs.map(runView),
  );
}

function runView({ run, workflow, ended, duration_ms, result, steps }: WorkflowRunView): HTMLElement {
  return element(
    'details',
    {},
    element(
      'summary',
      {},
      element('span', { class: `state ${result}` }, result),
      element('span', { class: 'what text' }, workflow),
      element('time', { datetime: ended }, new Date(ended).toLocaleString()),
      element('span', { class: 'soft' }, `${duration_ms} ms`),
    ),
    element(
      'div',
      { class: 'inside' },
      element('p', { class: 'hint text' }, `Run ${run}: the audit log has its events.`),
      textList(
        steps.map(({ id, result: end, duration_ms: ms, retries }) => [
          named(id),
          ' ',
          element('span', { class: end }, end),
          ` in ${ms} ms${retries === 0 ? '' : `, after ${retries} more ${retries === 1 ? 'try' : 'tries'}`}`,
        ]),
      ),
    ),
  );
}
