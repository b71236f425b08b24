// Defines the types of the parts of a parsed Go template.

/** `at` is a UTF-16 index into the template. */
export type TemplateNode =
  | { readonly type: 'text'; readonly text: string; readonly at: number }
  | { readonly type: 'action'; readonly pipeline: Pipeline; readonly at: number }
  | Branch
  | { readonly type: 'template'; readonly name: string; readonly pipeline?: Pipeline; readonly at: number }
  | { readonly type: 'break' | 'continue'; readonly at: number };

export interface Branch {
  readonly type: 'if' | 'with' | 'range';
  readonly pipeline: Pipeline;
  readonly body: readonly TemplateNode[];
  /** The nodes between `else` and `end`. */
  readonly otherwise: readonly TemplateNode[];
  readonly at: number;
}

export interface Pipeline {
  /** `$x`, or for `range` also `$i, $x`. */
  readonly variables: readonly string[];
  /** True for `=`, which sets declared variables. False for `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
  readonly at: number;
}

/** If the first operand is a function, the other operands are its arguments. */
export interface Command {
  readonly operands: readonly Operand[];
  readonly at: number;
}

export type Operand =
  | { readonly type: 'dot' | 'nil'; readonly at: number }
  | { readonly type: 'bool'; readonly value: boolean; readonly at: number }
  /** An integer is a bigint. Undefined for a complex number or an integer that does not fit int64. */
  | { readonly type: 'number'; readonly value: bigint | number | undefined; readonly at: number }
  | { readonly type: 'string'; readonly value: string; readonly at: number }
  | { readonly type: 'function'; readonly name: string; readonly at: number }
  /** `.a.b` */
  | { readonly type: 'field'; readonly fields: readonly string[]; readonly at: number }
  /** `$x.a.b`. The name includes `$`. */
  | { readonly type: 'variable'; readonly name: string; readonly fields: readonly string[]; readonly at: number }
  | { readonly type: 'pipeline'; readonly pipeline: Pipeline; readonly at: number }
  /** Fields of another operand: `(index .a 0).b` */
  | { readonly type: 'chain'; readonly base: Operand; readonly fields: readonly string[]; readonly at: number };

export interface Template {
  readonly nodes: readonly TemplateNode[];
  /** The nodes of each `define` and `block`, by name. */
  readonly definitions: ReadonlyMap<string, readonly TemplateNode[]>;
}
