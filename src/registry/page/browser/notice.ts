// Troubles and empty places, told where the content would be.

import type { Trouble } from './api.ts';
import { button, element } from './dom.ts';
import { describeTrouble } from './trouble.ts';

/** `again`: asks once more, where that may help. */
export function troubleNotice(trouble: Trouble, what: string, again: () => void): HTMLElement {
  const told = describeTrouble(trouble, what);
  return element(
    'div',
    { class: 'notice trouble', role: 'alert' },
    element('p', { class: 'strong' }, told.title),
    element('p', {}, told.advice),
    told.again ? button('Try again', again) : undefined,
  );
}

export function emptyNotice(title: string, advice: string, ...actions: readonly HTMLElement[]): HTMLElement {
  return element(
    'div',
    { class: 'notice' },
    element('p', { class: 'strong' }, title),
    element('p', {}, advice),
    ...actions,
  );
}
