// Stores the output of a container's current and previous run for `pods/log`, up to a size limit.

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The line without its line break. */
  readonly text: string;
}

export interface ContainerLog {
  /** Begins a run. Earlier output then belongs to the previous run. */
  begin(): void;
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Ends the run. Remaining text without a line break becomes a line. */
  end(): void;
  lines(previous: boolean): readonly LogLine[];
  hasPrevious(): boolean;
  isOpen(): boolean;
  /** Calls `listener` with each new line, and `ended` at the end of the run. The returned function stops the calls. */
  follow(listener: (line: LogLine) => void, ended: () => void): () => void;
}

/** Limit of one run. If it is exceeded, the oldest lines are dropped. */
const MAX_CHARACTERS = 1024 * 1024;
/** Limit of one line. A kubelet also splits long lines. */
const LINE_CHARACTERS = 16 * 1024;

export function openLog(now: () => number): ContainerLog {
  let current: LogLine[] = [];
  let previous: readonly LogLine[] | undefined;
  let characters = 0;
  let begun = false;
  const open = { stdout: '', stderr: '' };
  const decoders = newDecoders();
  let isOpen = false;
  const listeners = new Map<(line: LogLine) => void, () => void>();

  function add(text: string): void {
    const line = { at: now(), text };
    current.push(line);
    characters += text.length + 1;
    while (characters > MAX_CHARACTERS) characters -= (current.shift()?.text.length ?? 0) + 1;
    for (const listener of listeners.keys()) listener(line);
  }

  function endLines(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (open[stream] !== '') add(open[stream]);
      open[stream] = '';
    }
  }

  return {
    begin() {
      endLines();
      if (begun) previous = current;
      begun = true;
      isOpen = true;
      current = [];
      characters = 0;
    },
    write(stream, chunk) {
      const lines = (open[stream] + decoders[stream].decode(chunk, { stream: true })).split('\n');
      const rest = lines.pop() ?? '';
      for (const line of lines) add(line);
      for (open[stream] = rest; open[stream].length > LINE_CHARACTERS; ) {
        add(open[stream].slice(0, LINE_CHARACTERS));
        open[stream] = open[stream].slice(LINE_CHARACTERS);
      }
    },
    end() {
      endLines();
      isOpen = false;
      for (const ended of [...listeners.values()]) ended();
    },
    lines: (ofPrevious) => (ofPrevious ? (previous ?? []) : current),
    hasPrevious: () => previous !== undefined,
    isOpen: () => isOpen,
    follow(listener, ended) {
      listeners.set(listener, ended);
      return () => listeners.delete(listener);
    },
  };
}

function newDecoders() {
  return { stdout: new TextDecoder(), stderr: new TextDecoder() };
}
