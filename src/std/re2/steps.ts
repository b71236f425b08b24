// Compiles a regular expression to steps that can be walked one character at a time.

import { classOf, type Look, type Node } from './node.ts';

/** A step of a program. `next` and `targets` are indices, the preferred one first. */
export type Step =
  | { readonly op: 'one'; readonly reads: RegExp; readonly next: number }
  | { readonly op: 'look'; readonly at: Look; readonly next: number }
  | { readonly op: 'fork'; readonly targets: readonly number[] }
  | { readonly op: 'match' };

/** Appends the steps of a node, which continue at `next`, back to front. Returns the index of the first one. */
export function compile(steps: Step[], node: Node, next: number): number {
  switch (node.op) {
    case 'one':
      return steps.push({ op: 'one', reads: classOf(node.source), next }) - 1;
    case 'look':
      return steps.push({ op: 'look', at: node.at, next }) - 1;
    case 'either': {
      const targets = node.branches.map((branch) => branch.reduceRight((at, each) => compile(steps, each, at), next));
      return targets.length === 1 ? (targets[0] ?? next) : steps.push({ op: 'fork', targets }) - 1;
    }
    case 'repeat':
      return compileRepeat(steps, node, next);
  }
}

function compileRepeat(steps: Step[], node: Extract<Node, { op: 'repeat' }>, next: number): number {
  const { item, least, most, greedy } = node;
  const fork = (more: number): Step => ({ op: 'fork', targets: greedy ? [more, next] : [next, more] });
  let at = next;
  if (most === Number.POSITIVE_INFINITY) {
    const loop = steps.push({ op: 'fork', targets: [next] }) - 1;
    steps[loop] = fork(compile(steps, item, loop));
    at = loop;
  } else {
    for (let count = least; count < most; count++) at = steps.push(fork(compile(steps, item, at))) - 1;
  }
  for (let count = 0; count < least; count++) at = compile(steps, item, at);
  return at;
}
