// Creates elements. Only this file inserts foreign texts into a page, always as text and never as markup.

export type Child = Node | string | undefined;
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Creates an element. The attribute value true becomes an empty attribute; false and undefined leave it out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fillElement(document.createElement(name), attributes, children);
}

export function fillElement<E extends Element>(made: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function button(label: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', pressed);
  return made;
}

/** Creates a list. `item` are the attributes of each item. */
export function list(items: readonly Child[], attributes: Attributes = {}, item: Attributes = {}): HTMLUListElement {
  // Safari removes the role from lists without bullets.
  return element('ul', { role: 'list', ...attributes }, ...items.map((each) => element('li', item, each)));
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the shell has no #${id}`);
  return found;
}
