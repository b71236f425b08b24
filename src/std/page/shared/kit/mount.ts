// Puts a component into a page whose other parts are elements that scripts create.

import { type ComponentChild, render } from 'preact';

/** Returns an element that contains the component. The component does not change after that. */
export function mounted(component: ComponentChild): HTMLElement {
  const host = document.createElement('span');
  render(component, host);
  return host;
}
