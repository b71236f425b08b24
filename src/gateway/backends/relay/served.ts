// Serves exchanges that other replicas hand over, and handles the other replicas' later messages about these exchanges.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Answer, Flow } from '../backend.ts';
import type { BackendClock } from '../ports.ts';
import type { Frame } from './frame.ts';
import type { RelayService } from './ports.ts';
import { repeat } from './repeat.ts';

export interface Served {
  add(service: string, handle: RelayService): void;
  /** Handles a frame of the replica `from` about its call `call`. */
  take(from: string, call: string, frame: Frame): void;
}

const EMPTY = Buffer.alloc(0);

/**
 * Creates the served exchanges. `post` sends a frame, and calls `unheard` if the other replica is unreachable. The
 * exchange then ends, because its client can no longer get the answer.
 */
export function createServed(
  clock: BackendClock,
  post: (to: string, frame: Frame, unheard: (reachable: boolean) => void) => void,
): Served {
  const services = new Map<string, RelayService>();
  const serving = new Map<string, Serving>();

  function begin(from: string, call: string, handle: RelayService, { head, body }: Frame): void {
    const key = `${from}/${call}`;
    const own: Serving = { flow: undefined, paused: false, stop };

    function reply(said: JsonObject, bytes: Buffer = EMPTY): void {
      post(from, { head: { ...said, call }, body: bytes }, stop);
    }

    function stop(): void {
      if (finish()) own.flow?.abort();
    }

    function finish(): boolean {
      stopAlive();
      return serving.delete(key);
    }

    const stopAlive = repeat(clock, () => reply({ t: 'alive' }));
    serving.set(key, own);
    own.flow = handle({ head: objectIn(head), body }, answerOver(reply, own, finish));
  }

  return {
    add: (service, handle) => void services.set(service, handle),
    take(from, call, frame) {
      const { t, service } = frame.head;
      const own = serving.get(`${from}/${call}`);
      const handle = typeof service === 'string' ? services.get(service) : undefined;
      if (t === 'open' && own === undefined && handle !== undefined) begin(from, call, handle, frame);
      if (own === undefined) return;
      own.paused = t === 'pause';
      if (t === 'resume') own.flow?.resume();
      if (t === 'abort') own.stop();
    },
  };
}

function objectIn({ request }: JsonObject): JsonObject {
  return isObject(request) ? request : {};
}

interface Serving {
  flow: Flow | undefined;
  readonly stop: () => void;
  paused: boolean;
}

function answerOver(reply: (head: JsonObject, body?: Buffer) => void, own: Serving, finish: () => void): Answer {
  return {
    head: (status, headers) => reply({ t: 'head', status, headers: plainHeaders(headers) }),
    data(chunk) {
      reply({ t: 'data' }, chunk);
      return !own.paused;
    },
    end() {
      finish();
      reply({ t: 'end' });
    },
    fail(fault) {
      finish();
      reply({ t: 'fail', fault: { ...fault } });
    },
  };
}

function plainHeaders(headers: Readonly<Record<string, string | readonly string[]>>): JsonObject {
  const plain: JsonObject = {};
  for (const name in headers) {
    const value = headers[name];
    plain[name] = typeof value === 'string' || value === undefined ? value : [...value];
  }
  return plain;
}
