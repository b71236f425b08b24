// Creates elements. Texts of other servers enter a page only here, always as text and never as markup.

export type Child = Node | string | undefined;
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Creates an element. An attribute with the value true becomes an empty attribute. Attributes with false or undefined
 * are left out.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fillElement(document.createElement(name), attributes, children);
}

function fillElement<E extends Element>(made: E, attributes: Attributes, children: readonly Child[]): E {
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

/** Creates a list. `item` are the attributes of each list item. */
export function list(items: readonly Child[], attributes: Attributes = {}, item: Attributes = {}): HTMLUListElement {
  // Safari removes the list role from lists without bullets.
  return element('ul', { role: 'list', ...attributes }, ...items.map((each) => element('li', item, each)));
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the shell has no #${id}`);
  return found;
}
