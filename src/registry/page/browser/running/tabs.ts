// Creates tabs that show one panel at a time (WAI-ARIA Authoring Practices, Tabs).

import { button, element } from '#std/page/shared/elements.ts';

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly node: HTMLElement;
}

/** Shows the first panel. `label` names the row of tabs. */
export function tabsOf(label: string, panels: readonly Panel[]): HTMLElement {
  const tabs = panels.map(({ id, title }, index) =>
    button(title, () => choose(index), { role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}` }),
  );
  const shown = panels.map(({ id, node }) =>
    element('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` }, node),
  );

  function choose(chosen: number): void {
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(index === chosen));
      tab.tabIndex = index === chosen ? 0 : -1;
    }
    for (const [index, panel] of shown.entries()) panel.hidden = index !== chosen;
  }

  const row = element('div', { role: 'tablist', 'aria-label': label, class: 'tabs' }, ...tabs);
  row.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex((tab) => tab.matches(':focus'));
    const next = (at + step + tabs.length) % tabs.length;
    choose(next);
    tabs[next]?.focus();
  });
  choose(0);
  return element('div', { class: 'tabbed' }, row, ...shown);
}
