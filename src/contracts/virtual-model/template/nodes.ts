// What a Go template is made of, as data.

/** Offsets (`at`) are UTF-16 indices into the template. */
export type Node =
  | { readonly type: 'text'; readonly text: string; readonly at: number }
  | { readonly type: 'action'; readonly pipeline: Pipeline; readonly at: number }
  | Branch
  | { readonly type: 'template'; readonly name: string; readonly pipeline?: Pipeline; readonly at: number }
  | { readonly type: 'break' | 'continue'; readonly at: number };

export interface Branch {
  readonly type: 'if' | 'with' | 'range';
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  /** After `else`. */
  readonly otherwise: readonly Node[];
  readonly at: number;
}

export interface Pipeline {
  /** `$x`, or with range `$i` and `$x`. */
  readonly variables: readonly string[];
  /** They are declared already (`=`, not `:=`). */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
  readonly at: number;
}

/** The first operand is called with the others, where it is a function. */
export interface Command {
  readonly operands: readonly Operand[];
  readonly at: number;
}

export type Operand =
  | { readonly type: 'dot' | 'nil'; readonly at: number }
  | { readonly type: 'bool'; readonly value: boolean; readonly at: number }
  /** A whole number is a bigint; undefined: no value that templates here know (complex numbers). */
  | { readonly type: 'number'; readonly value: bigint | number | undefined; readonly at: number }
  | { readonly type: 'string'; readonly value: string; readonly at: number }
  | { readonly type: 'function'; readonly name: string; readonly at: number }
  /** `.a.b` */
  | { readonly type: 'field'; readonly fields: readonly string[]; readonly at: number }
  /** `$x.a.b`; the name has its `$`. */
  | { readonly type: 'variable'; readonly name: string; readonly fields: readonly string[]; readonly at: number }
  | { readonly type: 'pipeline'; readonly pipeline: Pipeline; readonly at: number }
  /** Fields of what another operand gives: `(index .a 0).b` */
  | { readonly type: 'chain'; readonly base: Operand; readonly fields: readonly string[]; readonly at: number };

export interface Template {
  readonly nodes: readonly Node[];
  /** Of `define` and `block`, by name. */
  readonly definitions: ReadonlyMap<string, readonly Node[]>;
}
