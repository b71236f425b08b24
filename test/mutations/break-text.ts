// Manifests whose text is broken, in the ways in which texts break: cut off, bytes flipped, tabs, conflict markers, another
// encoding, nesting without end, alias bombs. The same ones for the same seed.

import type { Random } from '../harness/random.ts';

type Break = (random: Random, text: string) => string;

export function brokenText(random: Random, text: string): { readonly what: string; readonly text: string } {
  const breaks = Object.entries(BREAKS);
  const chosen = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => random.pick(breaks));
  return {
    what: chosen.map(([name]) => name).join(', '),
    text: chosen.reduce((broken, [, change]) => change(random, broken), text),
  };
}

/** A line of the text replaced. */
function lineChanged(random: Random, text: string, change: (line: string) => string): string {
  const lines = text.split('\n');
  const at = random.integer(lines.length);
  return lines.with(at, change(lines[at] ?? '')).join('\n');
}

function inserted(random: Random, text: string, what: string): string {
  const at = random.integer(text.length + 1);
  return text.slice(0, at) + what + text.slice(at);
}

const ODD = [...'\0\u0001\u0007\u001b\u007f\u0085\u00a0\u2028\ufeff\ufffd\ud800"\'`@%&*!|>{}[],:#-?\\\t\r'];

const BREAKS: Readonly<Record<string, Break>> = {
  'cut off': (random, text) => text.slice(0, random.integer(text.length + 1)),
  'beginning gone': (random, text) => text.slice(random.integer(text.length + 1)),
  'one character gone': (random, text) => {
    const at = random.integer(text.length);
    return text.slice(0, at) + text.slice(at + 1);
  },
  'byte flipped': (random, text) => {
    const bytes = Buffer.from(text);
    const at = random.integer(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
    return bytes.toString();
  },
  'odd character': (random, text) => inserted(random, text, random.pick(ODD)),
  'line twice': (random, text) => lineChanged(random, text, (line) => `${line}\n${line}`),
  'line gone': (random, text) => lineChanged(random, text, () => ''),
  'line indented': (random, text) => lineChanged(random, text, (line) => `${' '.repeat(1 + random.integer(4))}${line}`),
  'line less indented': (random, text) => lineChanged(random, text, (line) => line.replace(/^ {1,3}/, '')),
  'tab for blanks': (random, text) => lineChanged(random, text, (line) => line.replace(/^ +/, '\t')),
  'colon gone': (random, text) => lineChanged(random, text, (line) => line.replace(':', '')),
  'blank gone': (random, text) => lineChanged(random, text, (line) => line.replace(': ', ':')),
  'quote open': (random, text) => lineChanged(random, text, (line) => line.replace(': ', ': "')),
  'lines swapped': (random, text) => {
    const lines = text.split('\n');
    const [one, two] = [random.integer(lines.length), random.integer(lines.length)];
    return lines
      .with(one, lines[two] ?? '')
      .with(two, lines[one] ?? '')
      .join('\n');
  },
  'conflict markers': (random, text) =>
    lineChanged(random, text, (line) => `<<<<<<< HEAD\n${line}\n=======\n${line}x\n>>>>>>> theirs`),
  'alias without anchor': (random, text) => lineChanged(random, text, (line) => line.replace(/: .*/, ': *nothing')),
  'anchor inside itself': (_random, text) => `${text}\nloop: &loop [*loop]\n`,
  'alias bomb': (_random, text) => {
    const levels = [...'bcdefgh'].map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]\n`);
    return `${text}\na: &a [x,x,x,x,x,x,x,x,x]\n${levels.join('')}`;
  },
  'nesting without end': (random, text) => inserted(random, text, random.pick(['[', '{a: ', '- ']).repeat(2_000)),
  'a long line': (_random, text) => `${text}\nlong: ${'word '.repeat(5_000)}\n`,
  'a tag': (random, text) => lineChanged(random, text, (line) => line.replace(': ', ': !!python/object:os.system ')),
  'another version': (_random, text) => `%YAML 1.2\n---\n${text}`,
  'line breaks of Windows': (_random, text) => text.replaceAll('\n', '\r\n'),
  'documents merged': (_random, text) => `${text}---\n${text}...\n${text}`,
  'another encoding': (_random, text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'no text at all': (random) => Buffer.from(Array.from({ length: 300 }, () => random.integer(256))).toString(),
  'a list': (_random, text) => text.replaceAll(/^/gm, '  ').replace('  ', '- '),
  'a template': (random, text) => lineChanged(random, text, (line) => line.replace(/: .*/, ': {{ .Values.x }}')),
};
