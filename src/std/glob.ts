// Matches glob patterns in which every wildcard crosses `/`. Syntax: `*` and `**` any text, also none; `?` one
// character; `[abc]`, `[a-z]`, `[!a]`; `{a,b}` alternatives, nested too; `\` takes the next character as it is.
// Case-sensitive; the whole text must match. Matching walks all states of the pattern at once, so it never takes more
// than pattern length x text length steps.

/** A parsed pattern. Opaque: created by `parseGlob`, used by `globMatches`. */
export interface Glob {
  readonly pattern: string;
  readonly steps: readonly Step[];
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A state of the automaton. `next` and `targets` are indices of steps. Only `fork` steps consume no character. */
type Step =
  | { readonly op: 'any'; readonly next: number }
  | { readonly op: 'class'; readonly negated: boolean; readonly ranges: readonly Range[]; readonly next: number }
  | { readonly op: 'fork'; readonly targets: readonly number[] }
  | { readonly op: 'match' };

type Node =
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly Range[] }
  | { readonly kind: 'either'; readonly branches: readonly (readonly Node[])[] };

interface Cursor {
  readonly chars: readonly string[];
  at: number;
}

/**
 * Returns undefined if the pattern is malformed: an open class or brace, an empty or reversed range, a `\` at the end.
 */
export function parseGlob(pattern: string): Glob | undefined {
  const nodes = readSequence({ chars: [...pattern], at: 0 }, 0);
  if (nodes === undefined) return undefined;
  const steps: Step[] = [{ op: 'match' }];
  const start = compile(steps, nodes, 0);
  // Matching begins at the first step, so that step is a fork to the compiled start.
  steps.push({ op: 'fork', targets: [start] });
  return { pattern, steps };
}

export function globMatches(glob: Glob, text: string): boolean {
  const { steps } = glob;
  let current = closure(steps, [steps.length - 1]);
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const next: number[] = [];
    for (const index of current) {
      const step = steps[index];
      if (step !== undefined && takes(step, code)) next.push(step.next);
    }
    if (next.length === 0) return false;
    current = closure(steps, next);
  }
  return current.has(0);
}

function takes(step: Step, code: number): step is Step & { next: number } {
  if (step.op === 'any') return true;
  if (step.op !== 'class') return false;
  return step.ranges.some(({ low, high }) => low <= code && code <= high) !== step.negated;
}

/** Returns the states that are reached from `starts` without consuming a character. */
function closure(steps: readonly Step[], starts: readonly number[]): Set<number> {
  const reached = new Set<number>();
  const open = [...starts];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    const step = steps[index];
    if (step?.op === 'fork') open.push(...step.targets);
  }
  return reached;
}

/** Appends the steps for `nodes`, which continue at `next`, back to front. Returns the index of the first one. */
function compile(steps: Step[], nodes: readonly Node[], next: number): number {
  let target = next;
  for (const node of nodes.toReversed()) {
    switch (node.kind) {
      case 'any':
        target = steps.push({ op: 'any', next: target }) - 1;
        break;
      case 'class':
        target = steps.push({ op: 'class', negated: node.negated, ranges: node.ranges, next: target }) - 1;
        break;
      case 'star': {
        const loop = steps.length;
        steps.push({ op: 'fork', targets: [loop + 1, target] }, { op: 'any', next: loop });
        target = loop;
        break;
      }
      case 'either': {
        const after = target;
        const targets = node.branches.map((branch) => compile(steps, branch, after));
        target = steps.push({ op: 'fork', targets }) - 1;
        break;
      }
    }
  }
  return target;
}

/** Reads to the end of the pattern or, inside braces, to the `,` or `}` that ends the branch, which is not consumed. */
function readSequence(cursor: Cursor, depth: number): Node[] | undefined {
  const nodes: Node[] = [];
  for (let char = cursor.chars[cursor.at]; char !== undefined; char = cursor.chars[cursor.at]) {
    if (depth > 0 && (char === ',' || char === '}')) return nodes;
    cursor.at += 1;
    const node = readNode(cursor, char, depth);
    if (node === undefined) return undefined;
    nodes.push(node);
  }
  return depth === 0 ? nodes : undefined;
}

function readNode(cursor: Cursor, char: string, depth: number): Node | undefined {
  switch (char) {
    case '*':
      return { kind: 'star' };
    case '?':
      return { kind: 'any' };
    case '[':
      return readClass(cursor);
    case '{':
      return depth < MAX_DEPTH ? readBranches(cursor, depth + 1) : undefined;
    case '\\': {
      const escaped = cursor.chars[cursor.at];
      cursor.at += 1;
      return escaped === undefined ? undefined : literal(escaped);
    }
    default:
      return literal(char);
  }
}

/** Deeper nesting of braces is useless and would only exhaust the stack. */
const MAX_DEPTH = 32;

function literal(char: string): Node {
  const code = char.codePointAt(0) ?? 0;
  return { kind: 'class', negated: false, ranges: [{ low: code, high: code }] };
}

function readBranches(cursor: Cursor, depth: number): Node | undefined {
  const branches: Node[][] = [];
  for (;;) {
    const branch = readSequence(cursor, depth);
    if (branch === undefined) return undefined;
    branches.push(branch);
    const end = cursor.chars[cursor.at];
    cursor.at += 1;
    if (end === '}') return { kind: 'either', branches };
  }
}

function readClass(cursor: Cursor): Node | undefined {
  const negated = cursor.chars[cursor.at] === '!';
  if (negated) cursor.at += 1;
  const ranges: Range[] = [];
  while (cursor.chars[cursor.at] !== ']') {
    const low = readClassChar(cursor);
    if (low === undefined) return undefined;
    let high = low;
    if (cursor.chars[cursor.at] === '-') {
      cursor.at += 1;
      const end = readClassChar(cursor);
      if (end === undefined || end < low) return undefined;
      high = end;
    }
    ranges.push({ low, high });
  }
  cursor.at += 1;
  return ranges.length === 0 ? undefined : { kind: 'class', negated, ranges };
}

/** Returns the code point of one member of a class. A bare `-` or `]` is not a member, as in Go's `filepath.Match`. */
function readClassChar(cursor: Cursor): number | undefined {
  let char = cursor.chars[cursor.at];
  if (char === undefined || char === '-' || char === ']') return undefined;
  cursor.at += 1;
  if (char === '\\') {
    char = cursor.chars[cursor.at];
    cursor.at += 1;
  }
  return char?.codePointAt(0);
}
