// Reads single families out of the text format of Prometheus (exposition format 0.0.4), as our proxies write it.

export interface MetricLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns the lines of the named families. Lines that cannot be read are left out. */
export function metricLines(text: string, names: ReadonlySet<string>): readonly MetricLine[] {
  return text.split('\n').flatMap((line) => {
    const name = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0];
    if (name === undefined || !names.has(name)) return [];
    const [, labels = '', value = ''] = /^\{(.*)\} (\S+)/.exec(line.slice(name.length)) ?? [
      '',
      '',
      line.slice(name.length + 1).split(' ')[0],
    ];
    const number = Number(value);
    return Number.isFinite(number) ? [{ name, labels: labelsIn(labels), value: number }] : [];
  });
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, unescapeLabel(value)]));
}

function unescapeLabel(value: string): string {
  return value.replace(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character));
}
