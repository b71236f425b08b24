// Runs containers as processes of this machine, and connects their standard streams to attached clients.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ContainerConnection, ContainerName, ContainerOutput, ContainerRunner } from '../attach/containers.ts';
import { type LocalCommand, openProcessGroups, type ProcessGroups } from './process-groups.ts';

export interface LocalContainers extends ContainerRunner {
  /** Starts the process of a container that has no running process. Returns the id of the run. */
  start(name: ContainerName, command: LocalCommand, input?: ContainerInput): string;
  signal(name: ContainerName, signal: NodeJS.Signals): void;
  /**
   * Makes the node appear lost to all connections of the container. The process continues. Returns false if the
   * container has no connections.
   */
  sever(name: ContainerName): boolean;
  /** If `frozen`, the node stops responding. Otherwise it responds again. */
  freeze(name: ContainerName, frozen: boolean): void;
  ended(name: ContainerName): Promise<void>;
  stop(): Promise<void>;
}

export interface ContainerInput {
  /** If set, the input is closed with the first connection that had input (`stdinOnce` in the container's spec). */
  readonly stdinOnce?: boolean;
}

interface ContainerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly outputs: Set<ContainerOutput>;
  /** Connections that have paused the output. */
  readonly paused: Set<ContainerOutput>;
  readonly over: Promise<void>;
  readonly stdinOnce: boolean;
  frozen: boolean;
}

/** Opens the runner. `groups` are closed with the runner. By default, the runner creates its own groups. */
export function openLocalContainers(groups: ProcessGroups = openProcessGroups()): LocalContainers {
  const running = new Map<string, ContainerProcess>();
  const all = new Set<ContainerProcess>();
  const find = (name: ContainerName): ContainerProcess | undefined => running.get(key(name));
  return {
    start(name, command, { stdinOnce = false } = {}) {
      const container = run(groups.start(command), stdinOnce);
      running.set(key(name), container);
      all.add(container);
      void container.over.then(() => {
        all.delete(container);
        if (find(name) === container) running.delete(key(name));
      });
      return `local://${container.child.pid}`;
    },
    connect(name, output) {
      const container = find(name);
      return container === undefined ? undefined : connectTo(container, output);
    },
    signal(name, signal) {
      const container = find(name);
      if (container !== undefined) groups.signal(container.child, signal);
    },
    sever(name) {
      const outputs = [...(find(name)?.outputs ?? [])];
      for (const output of outputs) output.lost();
      return outputs.length > 0;
    },
    freeze(name, frozen) {
      const container = find(name);
      if (container !== undefined) container.frozen = frozen;
    },
    ended: async (name) => find(name)?.over,
    async stop() {
      const ending = [...all].map(({ over }) => over);
      await groups.close();
      await Promise.all(ending);
    },
  };
}

function key({ namespace, pod, container }: ContainerName): string {
  return `${namespace}/${pod}/${container}`;
}

function run(child: ChildProcessWithoutNullStreams, stdinOnce: boolean): ContainerProcess {
  const outputs = new Set<ContainerOutput>();
  // The write error is ignored, because clients are informed when the process ends.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdout.on('data', (chunk: Buffer) => {
    for (const output of outputs) output.stdout(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    for (const output of outputs) output.stderr(chunk);
  });
  const over = new Promise<void>((resolve) => {
    function end(error: string | undefined): void {
      for (const output of outputs) output.ended(error);
      outputs.clear();
      resolve();
    }
    child.once('error', ({ message }) => end(`command was not started: ${message}`));
    child.once('close', (code, signal) =>
      end(code === 0 ? undefined : `command terminated with ${signal ?? `exit code ${code}`}`),
    );
  });
  return { child, outputs, paused: new Set(), over, stdinOnce, frozen: false };
}

function connectTo(container: ContainerProcess, output: ContainerOutput): ContainerConnection {
  const { child, outputs, paused } = container;
  outputs.add(output);

  function resume(): void {
    paused.delete(output);
    if (paused.size === 0) child.stdout.resume();
  }

  return {
    write: (chunk) => child.stdin.write(chunk),
    drained: (callback) => void child.stdin.once('drain', callback),
    endInput: () => void child.stdin.end(),
    pause() {
      paused.add(output);
      child.stdout.pause();
    },
    resume,
    detach(hadInput) {
      if (hadInput && container.stdinOnce) child.stdin.end();
      outputs.delete(output);
      resume();
    },
    frozen: () => container.frozen,
  };
}
