// What a container has printed: the run of now and the one before it, bounded, as `pods/log` gives it out.

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Without its end. */
  readonly text: string;
}

export interface ContainerLog {
  /** A run has begun: what was printed until now is the one before it. */
  begin(): void;
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** What has no end yet is a line as well. */
  end(): void;
  lines(previous: boolean): readonly LogLine[];
  /** Whether there was a run before. */
  hasPrevious(): boolean;
  /** Whether the run of now goes on. */
  isOpen(): boolean;
  /** Calls back with each further line, and once when the run has ended. Answers the function that ends it. */
  follow(listener: (line: LogLine) => void, ended: () => void): () => void;
}

/** Of one run; the oldest lines go. */
const MAX_CHARACTERS = 1024 * 1024;
/** A kubelet cuts lines as well. */
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
