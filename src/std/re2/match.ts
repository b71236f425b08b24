// Matches texts by walking all paths through a regular expression at once. The number of steps grows with the text,
// whatever the pattern, and a text that costs too many is given up. Walked paths are remembered, so most characters
// cost one look-up. Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach".

import type { Look, Node } from './node.ts';
import { compile, type Step } from './steps.ts';

interface Span {
  /** Positions count UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Matches without anchors, as in Go. The result is undefined if the text costs too much. */
export interface Matcher {
  test(text: string): boolean | undefined;
  /** Returns the leftmost match, and among several the one that the pattern prefers. Returns null if there is none. */
  find(text: string, from?: number): Span | null | undefined;
}

interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** The states that a text can reach, by key. */
  readonly states: Map<string, State>;
  kept: number;
}

/** The kind of character before or after a position. */
type Beside = 'edge' | 'newline' | 'word' | 'other';

interface State {
  readonly ways: readonly number[];
  readonly before: Beside;
  /** The next state by the following character. True if the text matches, whatever follows. */
  readonly on: Map<number, State | true>;
}

/** About a second. Schemas and rules take a thousandth of it. */
const MAX_WORK = 5_000_000;
/** Number of steps and paths that all programs keep together, some 100 MB at most. Beyond it, all are forgotten. */
const MAX_KEPT = 1_000_000;

const END = -1;

/** Programs, created on first use and forgotten together. */
const programs = new Map<Node, Program>();
let kept = 0;

export function matcherOf(node: Node): Matcher {
  return {
    test: (text) => test(programOf(node), text),
    find: (text, from = 0) => find(programOf(node), text, from),
  };
}

function programOf(node: Node): Program {
  const known = programs.get(node);
  if (known !== undefined && kept <= MAX_KEPT) return known;
  if (kept > MAX_KEPT) {
    programs.clear();
    kept = 0;
  }
  const steps: Step[] = [{ op: 'match' }];
  const program = { steps, start: compile(steps, node, 0), states: new Map(), kept: 0 };
  kept += steps.length;
  programs.set(node, program);
  return program;
}

function test(program: Program, text: string): boolean | undefined {
  const work = { left: MAX_WORK };
  let state = openState(program, [], 'edge');
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position);
    const code = unit < 0xd800 || unit > 0xdbff ? unit : (text.codePointAt(position) ?? unit);
    if (code > 0xffff) position++;
    const next = state.on.get(code) ?? follow(program, state, code, work);
    if (next === true) return true;
    if (work.left < 0) return undefined;
    state = next;
  }
  return (state.on.get(END) ?? follow(program, state, END, work)) === true;
}

/** Returns the next state and remembers it. A match may begin at each character. */
function follow(program: Program, state: State, code: number, work: { left: number }): State | true {
  const { steps, start } = program;
  const seen = new Set<number>();
  const reached = reach(steps, [...state.ways, start], state.before, besideOf(code), seen);
  work.left -= seen.size + 1;
  const next = reached.includes(0) ? true : openState(program, readCharacter(steps, reached, code), besideOf(code));
  state.on.set(code, next);
  program.kept++;
  kept++;
  return next;
}

function openState(program: Program, ways: readonly number[], before: Beside): State {
  if (program.kept > MAX_KEPT / 4) {
    program.states.clear();
    kept -= program.kept;
    program.kept = 0;
  }
  const key = `${before} ${ways.join(' ')}`;
  const known = program.states.get(key);
  if (known !== undefined) return known;
  const fresh = { ways, before, on: new Map() };
  program.states.set(key, fresh);
  program.kept += ways.length + 1;
  kept += ways.length + 1;
  return fresh;
}

/** Returns the steps after the character, each once, the preferred one first. */
function readCharacter(steps: readonly Step[], reached: readonly number[], code: number): number[] {
  if (code === END) return [];
  const character = String.fromCodePoint(code);
  const next = new Set<number>();
  for (const index of reached) {
    const step = steps[index];
    if (step?.op === 'one' && !next.has(step.next) && step.reads.test(character)) next.add(step.next);
  }
  return [...next];
}

/**
 * Returns the steps that read a character, and the match (0), that are reached without reading one. The preferred one
 * comes first.
 */
function reach(
  steps: readonly Step[],
  starts: readonly number[],
  before: Beside,
  after: Beside,
  seen: Set<number>,
): number[] {
  const found: number[] = [];
  const open = starts.toReversed();
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const step = steps[index];
    if (step === undefined) continue;
    if (step.op === 'fork') open.push(...step.targets.toReversed());
    else if (step.op !== 'look') found.push(index);
    else if (lookHolds(step.at, before, after)) open.push(step.next);
  }
  return found;
}

function lookHolds(look: Look, before: Beside, after: Beside): boolean {
  switch (look) {
    case 'start':
      return before === 'edge';
    case 'end':
      return after === 'edge';
    case 'line-start':
      return before === 'edge' || before === 'newline';
    case 'line-end':
      return after === 'edge' || after === 'newline';
    case 'word-edge':
      return (before === 'word') !== (after === 'word');
    case 'no-word-edge':
      return (before === 'word') === (after === 'word');
  }
}

function besideOf(code: number): Beside {
  if (code === END) return 'edge';
  if (code === 0x0a) return 'newline';
  const digit = code >= 0x30 && code <= 0x39;
  const letter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return digit || letter || code === 0x5f ? 'word' : 'other';
}

/** A path through the program, with the beginning of its match. */
interface Way {
  readonly at: number;
  readonly start: number;
}

function find({ steps, start }: Program, text: string, from: number): Span | null | undefined {
  let work = MAX_WORK;
  let ways: readonly Way[] = [];
  let found: Span | null = null;
  let before: Beside = from === 0 ? 'edge' : besideOf(text.codePointAt(startOfCharacter(text, from)) ?? END);
  for (let position = from; ; ) {
    const code = text.codePointAt(position) ?? END;
    const after = besideOf(code);
    // A match that begins earlier is preferred.
    if (found === null) ways = [...ways, { at: start, start: position }];
    const seen = new Set<number>();
    const next: Way[] = [];
    for (const way of ways) {
      const reached = reach(steps, [way.at], before, after, seen);
      const end = reached.indexOf(0);
      const better = end < 0 ? reached : reached.slice(0, end);
      next.push(...readCharacter(steps, better, code).map((at) => ({ at, start: way.start })));
      if (end < 0) continue;
      found = { start: way.start, end: position };
      break;
    }
    work -= seen.size + 1;
    if (work < 0) return undefined;
    if (code === END || (next.length === 0 && found !== null)) return found;
    ways = distinctWays(next);
    before = after;
    position += code > 0xffff ? 2 : 1;
  }
}

function startOfCharacter(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xdc00 && last <= 0xdfff && end > 1 ? end - 2 : end - 1;
}

function distinctWays(ways: readonly Way[]): Way[] {
  const seen = new Set<number>();
  return ways.filter(({ at }) => !seen.has(at) && seen.add(at));
}
