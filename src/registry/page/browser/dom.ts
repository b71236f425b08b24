// Makes elements. The only place where what the API says meets the document: always as text, never as markup, and in a
// link only where it is the address of a web page.

type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** True gives an empty attribute; false and undefined give none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
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

/** A link where the address is one of the web, else the address as text: `javascript:` and the like lead nowhere. */
export function webLink(address: string): HTMLElement {
  const protocol = URL.parse(address)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return element('span', { class: 'text' }, address);
  return element('a', { href: address, rel: 'noopener noreferrer nofollow', class: 'text' }, address);
}

/** A heading that a script can move the focus to. */
export function title(...children: readonly Child[]): HTMLHeadingElement {
  return element('h1', { tabindex: '-1' }, ...children);
}

export function list(items: readonly Child[], attributes: Attributes = {}): HTMLUListElement {
  // Safari takes the role from lists without bullets.
  return element('ul', { role: 'list', ...attributes }, ...items.map((item) => element('li', {}, item)));
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the shell has no #${id}`);
  return found;
}
