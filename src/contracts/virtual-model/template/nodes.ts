// Defines the parts of a Go template as data.

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
  /** The nodes after `else`. */
  readonly otherwise: readonly Node[];
  readonly at: number;
}

export interface Pipeline {
  /** `$x`, or with range `$i` and `$x`. */
  readonly variables: readonly string[];
  /** Whether the variables are already declared (`=`, not `:=`). */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
  readonly at: number;
}

/** If the first operand is a function, it is called with the remaining operands. */
export interface Command {
  readonly operands: readonly Operand[];
  readonly at: number;
}

export type Operand =
  | { readonly type: 'dot' | 'nil'; readonly at: number }
  | { readonly type: 'bool'; readonly value: boolean; readonly at: number }
  /** A whole number is a bigint. Undefined for values that templates do not support here (complex numbers). */
  | { readonly type: 'number'; readonly value: bigint | number | undefined; readonly at: number }
  | { readonly type: 'string'; readonly value: string; readonly at: number }
  | { readonly type: 'function'; readonly name: string; readonly at: number }
  /** `.a.b` */
  | { readonly type: 'field'; readonly fields: readonly string[]; readonly at: number }
  /** `$x.a.b`. The name has its `$`. */
  | { readonly type: 'variable'; readonly name: string; readonly fields: readonly string[]; readonly at: number }
  | { readonly type: 'pipeline'; readonly pipeline: Pipeline; readonly at: number }
  /** Fields of the value of another operand: `(index .a 0).b` */
  | { readonly type: 'chain'; readonly base: Operand; readonly fields: readonly string[]; readonly at: number };

export interface Template {
  readonly nodes: readonly Node[];
  /** The content of `define` and `block`, by name. */
  readonly definitions: ReadonlyMap<string, readonly Node[]>;
}
