// Represents a regular expression as a tree.

export type Look = 'start' | 'end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

export type Node =
  /** A character, as a JavaScript class, literal or group of one (with the flag `u`). */
  | { readonly op: 'one'; readonly source: string }
  | { readonly op: 'look'; readonly at: Look }
  /** Each branch is a sequence of nodes. The first branch that leads to a match wins. */
  | { readonly op: 'either'; readonly branches: readonly (readonly Node[])[] }
  | {
      readonly op: 'repeat';
      readonly item: Node;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
      /** Whether the repetition is written with numbers. */
      readonly counted: boolean;
    };

/** Returns the number of steps of its program. */
export function sizeOf(node: Node): number {
  switch (node.op) {
    case 'one':
    case 'look':
      return 1;
    case 'either':
      return node.branches.flat().reduce((sum, each) => sum + sizeOf(each), 1);
    case 'repeat':
      return Math.max(1, node.least, Number.isFinite(node.most) ? node.most : node.least + 1) * (sizeOf(node.item) + 1);
  }
}

/** Recently used classes, by source. Nearly all patterns share a few. */
const classes = new Map<string, RegExp>();
const MAX_CLASSES = 2000;

/** Throws SyntaxError for a Unicode script or category that the engine does not have. */
export function classOf(source: string): RegExp {
  const known = classes.get(source);
  if (known !== undefined) return known;
  const fresh = new RegExp(`^${source}$`, 'u');
  if (classes.size >= MAX_CLASSES) classes.clear();
  classes.set(source, fresh);
  return fresh;
}

/** Whether the engine knows all classes of characters in it. */
export function isKnownHere(node: Node): boolean {
  switch (node.op) {
    case 'look':
      return true;
    case 'either':
      return node.branches.flat().every(isKnownHere);
    case 'repeat':
      return isKnownHere(node.item);
    case 'one':
      try {
        classOf(node.source);
        return true;
      } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
      }
  }
}
