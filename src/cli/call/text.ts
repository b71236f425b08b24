// Formats the list of a server's tools, and the result of a tool, as text.

import type { CallToolResult, ContentBlock, Tool } from '@modelcontextprotocol/client';
import { isObject, textsIn } from '#std/json.ts';

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly protocolVersion: string;
  readonly instructions?: string;
}

export function textOfTools(
  { name, version, title, protocolVersion, instructions }: ServerFacts,
  tools: readonly Tool[],
): string {
  const head = `${title === undefined || title === name ? name : `${title} (${name})`} ${version}, MCP ${protocolVersion}`;
  const blocks = tools.map(textOfTool);
  const lines = [head, ...(instructions === undefined ? [] : [instructions]), '', ...blocks];
  return `${(blocks.length === 0 ? [head, '', 'It has no tools.'] : lines).join('\n')}\n`;
}

function textOfTool({ name, title, description, inputSchema, annotations = {} }: Tool): string {
  const hints = [
    annotations.readOnlyHint === true ? 'read-only' : '',
    annotations.destructiveHint === true && annotations.readOnlyHint !== true ? 'may delete or overwrite' : '',
  ].filter((hint) => hint !== '');
  const about = firstLine(description ?? title ?? annotations.title ?? '');
  const parameters = parametersOf(inputSchema);
  const width = Math.max(0, ...parameters.map(([signature]) => signature.length));
  return [
    `${name}${hints.length === 0 ? '' : ` (${hints.join(', ')})`}${about === '' ? '' : `\n    ${about}`}`,
    ...parameters.map(([signature, text]) => `    ${`${signature.padEnd(width)}  ${text}`.trimEnd()}`),
  ].join('\n');
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function parametersOf(schema: unknown): readonly (readonly [string, string])[] {
  if (!isObject(schema)) return [];
  const required = new Set(textsIn(schema.required));
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.map(([key, property]) => {
    const { type, description, enum: choices } = isObject(property) ? property : {};
    const kind = Array.isArray(choices) ? choices.map(String).join('|') : [type].flat().filter(Boolean).join('|');
    const signature = `${key}=${kind === '' ? 'any' : kind}`;
    return [required.has(key) ? signature : `[${signature}]`, firstLine(String(description ?? ''))] as const;
  });
}

export function textOfResult({ content, structuredContent }: CallToolResult): string {
  if (content.length === 0 && structuredContent !== undefined) return `${JSON.stringify(structuredContent, null, 2)}\n`;
  return content.map((block) => `${textOfBlock(block)}\n`).join('');
}

function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}, ${Buffer.byteLength(block.data, 'base64')} bytes; -o json has it]`;
    case 'resource_link':
      return `${block.name} ${block.uri}`;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}; -o json has it]`;
    default:
      return JSON.stringify(block satisfies never);
  }
}
