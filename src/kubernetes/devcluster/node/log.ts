// Stores the output of the current and the previous run of a container, within limits, for `pods/log`.

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The line without its line break. */
  readonly text: string;
}

export interface ContainerLog {
  /** Begins a run. The output until now belongs to the previous run. */
  begin(): void;
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Ends the run. Text without a line break becomes a line as well. */
  end(): void;
  lines(previous: boolean): readonly LogLine[];
  /** Whether there was a previous run. */
  hasPrevious(): boolean;
  /** Whether the current run continues. */
  isOpen(): boolean;
  /**
   * Calls `listener` with each further line, and `ended` when the run has ended. Returns a function that stops the
   * calls.
   */
  follow(listener: (line: LogLine) => void, ended: () => void): () => void;
}

/** The limit of one run. The oldest lines are dropped. */
const MAX_CHARACTERS = 1024 * 1024;
/** The limit of a line. A kubelet also cuts lines. */
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
