// Defines the position of a check in a schema.

/** Position of the check in the schema, and the restrictions that apply there. */
export interface SchemaPosition {
  readonly pointer: string;
  readonly level: 'root' | 'field' | 'item';
  /** True inside `apiVersion`, `kind` or `metadata` of a resource. */
  readonly inMetadata: boolean;
  /** The reason why defaults are not allowed at this place. Absent if defaults are allowed. */
  readonly noDefaults?: string;
  /** Pointer of the nearest list or map above whose entries cannot be matched with their values before a change. */
  readonly uncorrelatable?: string;
}
