// Defines the place of a check in a schema.

/** The place of the check in the schema, and the restrictions that apply there. */
export interface Place {
  readonly pointer: string;
  readonly level: 'root' | 'field' | 'item';
  /** Whether the place is inside `apiVersion`, `kind` or `metadata` of a resource. */
  readonly inMetadata: boolean;
  /** Why defaults are not allowed here. */
  readonly noDefaults?: string;
  /** The nearest part above whose entries cannot be matched with their state before a change. */
  readonly uncorrelatable?: string;
}
