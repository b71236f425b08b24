// Shows a long list that keeps only the items near the reader in the document: chunks that are far away are empty
// elements of the same height.

import { element } from '#std/page/shared/elements.ts';

export interface Chunks {
  readonly node: HTMLElement;
  /** Adds items, which `make` creates again each time they are needed. */
  add(make: () => readonly HTMLElement[]): void;
  clear(): void;
  /** Returns the number of items, in the document or not. */
  count(): number;
}

interface Chunk {
  readonly node: HTMLElement;
  readonly make: () => readonly HTMLElement[];
}

/** Distance above and below the window, about two screens, so that items are there before they become visible. */
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

  /** A chunk with the focus is not emptied, because the focus would be lost. */
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
