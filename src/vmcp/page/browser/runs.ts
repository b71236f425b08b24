// The last runs of workflows: how each ended, and its steps.

import type { Run } from './api.ts';
import { htmlElement, named, textList } from './dom.ts';

export function runsView(runs: readonly Run[]): HTMLElement {
  return htmlElement(
    'section',
    {},
    htmlElement('h2', {}, 'Last runs'),
    runs.length === 0
      ? htmlElement('p', { class: 'hint' }, 'No workflow has run since this replica started.')
      : undefined,
    ...runs.map(runView),
  );
}

function runView({ run, workflow, ended, duration_ms, result, steps }: Run): HTMLElement {
  return htmlElement(
    'details',
    {},
    htmlElement(
      'summary',
      {},
      htmlElement('span', { class: `state ${result}` }, result),
      htmlElement('span', { class: 'what text' }, workflow),
      htmlElement('time', { datetime: ended }, new Date(ended).toLocaleString()),
      htmlElement('span', { class: 'soft' }, `${duration_ms} ms`),
    ),
    htmlElement(
      'div',
      { class: 'inside' },
      htmlElement('p', { class: 'hint text' }, `Run ${run}: the audit log has its events.`),
      textList(
        steps.map(({ id, result: end, duration_ms: ms, retries }) => [
          named(id),
          ' ',
          htmlElement('span', { class: end }, end),
          ` in ${ms} ms${retries === 0 ? '' : `, after ${retries} more ${retries === 1 ? 'try' : 'tries'}`}`,
        ]),
      ),
    ),
  );
}
