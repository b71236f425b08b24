// Those who look after `skep run`: its listener asked for everything that it shows, and told of pushes.

import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import type { Complaints } from './complaints.ts';
import { SECRETS } from './world.ts';

export interface Control {
  /** Each route once. */
  look(): Promise<void>;
  /** The commit that the last run read; undefined before the first. */
  commit(): Promise<string | undefined>;
  /** What its metrics are called, with their values. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** As a Git server does after a push. */
  tellPush(repository: string): Promise<void>;
  askForRun(): Promise<void>;
  close(): Promise<void>;
}

interface Reported {
  readonly runs?: readonly { readonly id: string }[];
}

const TOKEN = { authorization: `Bearer ${SECRETS.token}` };

export function openControl(origin: string, complaints: Complaints): Control {
  const pool = new Pool(origin, { connections: 2 });

  /** Empty where it was answered with another status, or not at all. */
  async function send(path: string, status: number, headers = {}, body?: string): Promise<string> {
    const method = body === undefined ? 'GET' : 'POST';
    try {
      const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
      const text = await answer.body.text();
      if (answer.statusCode === status) return text;
      const said = `${answer.statusCode}: ${text.slice(0, 300)}`;
      complaints.add('answers of run', `${method} ${path} was answered with ${said}`);
      return '';
    } catch (error) {
      complaints.add('answers of run', `${method} ${path}: ${String(error)}`);
      return '';
    }
  }

  const metrics = async () => metricsOf(await send('/metrics', 200));
  return {
    async look() {
      await send('/health', 200);
      await send('/readiness', 200);
      await send('/snapshot', 200, TOKEN);
      await send('/sync', 401, {}, '');
      const reported = await send('/runs', 200, { ...TOKEN, accept: 'application/json' });
      const { runs: [newest] = [] }: Reported = reported === '' ? {} : JSON.parse(reported);
      if (newest !== undefined) await send(`/runs/${newest.id}`, 200, { ...TOKEN, accept: 'application/json' });
    },
    async commit() {
      const name = [...(await metrics()).keys()].find((each) => each.startsWith('skep_source_commit_info{'));
      return name === undefined ? undefined : /commit="([^"]*)"/.exec(name)?.[1];
    },
    metrics,
    async tellPush(repository) {
      const body = JSON.stringify({ ref: 'refs/heads/main', repository: { clone_url: repository } });
      const signature = createHmac('sha256', SECRETS.webhook).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
      await send('/hooks/git', 202, headers, body);
    },
    async askForRun() {
      await send('/sync', 202, TOKEN, '');
    },
    close: () => pool.close(),
  };
}

/** Of the text format of Prometheus; comments left out. */
export function metricsOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
