// Makes elements: what runs tell meets the document here alone, always as text and never as markup.

type Child = Node | string | undefined;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function button(label: string, pressed: () => void, kind = ''): HTMLButtonElement {
  const made = element('button', { type: 'button', ...(kind === '' ? {} : { class: kind }) }, label);
  made.addEventListener('click', pressed);
  return made;
}

/** A list under a heading; nothing where there is nothing in it. */
export function section(title: string, items: readonly Child[]): HTMLElement | undefined {
  if (items.length === 0) return undefined;
  // Safari takes the role from lists without bullets.
  const list = element('ul', { role: 'list' }, ...items.map((item) => element('li', { class: 'text' }, item)));
  return element('section', {}, element('h2', {}, title), list);
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the shell has no #${id}`);
  return found;
}
