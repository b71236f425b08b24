// Checks a composite tool definition that another resource names, with the checks for a manifest of the definition.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { compileStructural, type Structural } from '#kubernetes/rules/structural/structural.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import { structuralSchema } from '../crd.ts';
import type { Resource } from '../kind.ts';
import { VirtualMCPCompositeToolDefinition } from './index.ts';

let structural: Structural | undefined;

/** Returns one sentence for each error. The object may be live, without defaults and never validated. */
export function definitionErrors(object: KubeObject): readonly string[] {
  structural ??= compileStructural(structuralSchema(VirtualMCPCompositeToolDefinition), describePattern);
  const defaulted = structural.withDefaults({ ...object });
  const shape = structural.validate(defaulted).filter(isError);
  if (shape.length > 0 || !isResource(defaulted)) return shape.map(({ message }) => message);
  return VirtualMCPCompositeToolDefinition.rules(defaulted, defaulted.spec)
    .filter(isError)
    .map(({ message }) => message);
}

function isError({ severity }: { readonly severity: string }): boolean {
  return severity === 'error';
}

/** Tells TypeScript that objects which the schema accepts have metadata and a spec. */
function isResource(value: JsonObject): value is JsonObject & Resource {
  return isObject(value.metadata) && isObject(value.spec);
}
