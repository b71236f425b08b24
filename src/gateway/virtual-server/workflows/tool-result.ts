// Converts the result of a tool call to the result of a step.

import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import type { InnerResult } from '../own-tools/ports.ts';
import { failedTry, type Performed } from './attempt.ts';
import { shorten } from './expand.ts';

export function readToolResult(tool: string, result: InnerResult): Performed {
  switch (result.kind) {
    case 'result':
      return readResult(tool, result.result);
    case 'error':
      return failedTry(`the tool ${tool} answers with an error: ${result.message}`, true);
    case 'unknown':
      return failedTry(`no backend has the tool ${tool} now: its backend is not available, or no longer has it`, true);
    case 'denied':
      return failedTry(`the caller may not call the tool ${tool}: ${result.message}`, false);
    case 'limited':
      return failedTry(`the tool ${tool} was called too often: try again in ${result.waitSeconds} s`, true);
    case 'failed':
      return failedTry(`the tool ${tool} does not answer: ${result.message}`, result.retryable);
    case 'aborted':
      return failedTry(`the call of the tool ${tool} was cancelled`, false);
  }
}

function readResult(tool: string, result: JsonObject): Performed {
  const content = contentByName(result);
  if (result.isError === true) {
    const said = typeof content.text === 'string' ? `: ${shorten(content.text)}` : '';
    return failedTry(`the tool ${tool} fails${said}`, true);
  }
  const { structuredContent } = result;
  return { kind: 'done', output: isObject(structuredContent) ? structuredContent : content, content };
}

/** Returns contents by their names in templates: `text`, `text_1`, `image_0`, `resource`, ... */
function contentByName({ content }: JsonObject): JsonObject {
  const named: JsonObject = {};
  const counts = { text: 0, image: 0, audio: 0, resource: 0 };
  const numbered = (kind: keyof typeof counts, first: string) => {
    const number = counts[kind]++;
    return number === 0 ? first : `${kind}_${number}`;
  };
  for (const block of objectsIn(content)) {
    if (block.type === 'text') named[numbered('text', 'text')] = block.text ?? '';
    else if (block.type === 'image') named[numbered('image', 'image_0')] = block.data ?? '';
    else if (block.type === 'audio') named[numbered('audio', 'audio_0')] = block.data ?? '';
    else if (block.type === 'resource') named[numbered('resource', 'resource')] = block.resource ?? {};
    else if (block.type === 'resource_link') named[numbered('resource', 'resource')] = block;
  }
  return named;
}
