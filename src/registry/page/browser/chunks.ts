// Shows a long list in chunks. Chunks far from the visible part are emptied, and keep their height.

import { element } from '#std/page/shared/elements.ts';

export interface Chunks {
  readonly node: HTMLElement;
  /** Adds items. `make` is called again whenever an emptied chunk comes near the visible part again. */
  add(make: () => readonly HTMLElement[]): void;
  clear(): void;
  /** Returns the number of items, including items of emptied chunks. */
  count(): number;
}

interface Chunk {
  readonly node: HTMLElement;
  readonly make: () => readonly HTMLElement[];
}

/** About two screens above and below the window, so that items exist before they become visible. */
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

  /** Empties a chunk, unless it contains the focus, which would be lost. */
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
