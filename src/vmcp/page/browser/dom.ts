// Makes elements: what servers say meets the document here alone, always as text and never as markup.

type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string>>;

export function htmlElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(name), attributes, children);
}

export function drawing<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function filled<E extends Element>(made: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** A name that a server gave. */
export function named(text: string): HTMLElement {
  return htmlElement('code', {}, text);
}

export function textList(items: readonly (readonly Child[])[]): HTMLElement {
  // Safari takes the role from lists without bullets.
  return htmlElement('ul', { role: 'list' }, ...items.map((item) => htmlElement('li', { class: 'text' }, ...item)));
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the shell has no #${id}`);
  return found;
}
