// Declares the parts of a schema that CEL needs: the shape of the values, not their bounds.

export interface CelSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly nullable: boolean;
  readonly intOrString: boolean;
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, CelSchema>;
  readonly additional?: CelSchema | 'any';
  readonly items?: CelSchema;
  readonly listType: 'atomic' | 'set' | 'map';
}

const TEXT: CelSchema = scalar('string');

function scalar(type: 'string'): CelSchema {
  return {
    type,
    nullable: false,
    intOrString: false,
    embedded: false,
    properties: new Map(),
    listType: 'atomic',
  };
}

/**
 * Adds the fields that every resource has. Rules can read only names in the metadata (CRD validation rules, "Field
 * paths").
 */
export function withMetadata(schema: CelSchema): CelSchema {
  const metadata: CelSchema = {
    ...TEXT,
    type: 'object',
    properties: new Map([
      ['name', TEXT],
      ['generateName', TEXT],
    ]),
  };
  const properties = new Map(schema.properties).set('apiVersion', TEXT).set('kind', TEXT).set('metadata', metadata);
  return { ...schema, type: 'object', properties };
}
