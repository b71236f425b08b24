// A long list whose items are in the document only near where the reader is: what is far away is an empty place of the same
// height.

import { element } from '#std/page/shared/elements.ts';

export interface Chunks {
  readonly node: HTMLElement;
  /** Makes the items when they are needed, each time anew. */
  add(make: () => readonly HTMLElement[]): void;
  clear(): void;
  /** How many items there are, in the document or not. */
  count(): number;
}

interface Chunk {
  readonly node: HTMLElement;
  readonly make: () => readonly HTMLElement[];
}

/** Beyond the window, above and below: about two screens, so that what comes into sight is there already. */
const MARGIN = '1500px 0px';

export function createChunks(attributes: Readonly<Record<string, string>>): Chunks {
  const node = element('div', { role: 'list', ...attributes });
  const chunks = new Map<Element, Chunk>();
  let count = 0;
  const observer = new IntersectionObserver(
    (places) => {
      for (const { target, isIntersecting, boundingClientRect } of places) {
        const chunk = chunks.get(target);
        if (chunk === undefined || !node.isConnected) continue;
        if (isIntersecting) fill(chunk);
        else empty(chunk, boundingClientRect.height);
      }
    },
    { rootMargin: MARGIN },
  );

  function fill({ node: place, make }: Chunk): void {
    if (place.childElementCount > 0) return;
    place.replaceChildren(...make());
    place.style.height = '';
  }

  /** Not under the hands of a reader: the focus would be lost. */
  function empty({ node: place }: Chunk, height: number): void {
    if (place.childElementCount === 0 || place.contains(document.activeElement)) return;
    place.style.height = `${height}px`;
    place.replaceChildren();
  }

  return {
    node,
    add(make) {
      const made = make();
      const place = element('div', { class: 'chunk', role: 'presentation' }, ...made);
      count += made.length;
      chunks.set(place, { node: place, make });
      node.append(place);
      observer.observe(place);
    },
    clear() {
      observer.disconnect();
      chunks.clear();
      count = 0;
      node.replaceChildren();
    },
    count: () => count,
  };
}
