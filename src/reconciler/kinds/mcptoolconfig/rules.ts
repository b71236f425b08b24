// Finds mistakes in an MCPToolConfig that neither its schema nor CEL can express.

import type { Typed } from '../define.ts';
import type { Finding } from '../kind.ts';
import { toolFindings } from '../proxy/tool-override.ts';
import type { MCPToolConfigSpec } from './schema.ts';

export function rules({ spec }: Typed<typeof MCPToolConfigSpec>): readonly Finding[] {
  return toolFindings({
    filter: spec.toolsFilter ?? [],
    overrides: spec.toolsOverride ?? {},
    filterField: 'toolsFilter',
    overridesPointer: '/spec/toolsOverride',
  });
}
