// Checks the arguments of a call against the input schema of the tool.

import { firstMisfit, schemaCheck } from '#contracts/schema-check.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import type { McpTool } from './tool.ts';

const checks = new Map<string, ReturnType<typeof schemaCheck<JsonObject>>>();

/** Returns the checked arguments. Throws Failure `mcp-arguments`. */
export function checkArguments({ name, inputSchema }: McpTool, given: unknown): JsonObject {
  const open = checks.get(name) ?? schemaCheck<JsonObject>(inputSchema);
  checks.set(name, open);
  const check = open();
  const args = given ?? {};
  if (check(args)) return args;
  const { pointer, message } = firstMisfit(check) ?? { pointer: '', message: 'do not fit' };
  throw new Failure('mcp-arguments', `arguments${pointer} ${message}`);
}
