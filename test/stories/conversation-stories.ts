// Stories in which servers ask clients back, and clients that must not hear of each other.

import type { Fields } from '../conformance/fixture/json.ts';
import { progressOf } from './changing-stories.ts';
import { REPLIES, type Replies, type Story, type StoryClient } from './story-client.ts';

/** Replies that keep what they were asked. */
function keeping(replies: Replies, questions: Fields[]): Replies {
  const keep = (params: Fields) => {
    const { _meta, ...question } = params;
    questions.push(question);
  };
  return {
    ...replies,
    elicit: (params) => {
      keep(params);
      return replies.elicit(params);
    },
    sample: (params) => {
      keep(params);
      return replies.sample(params);
    },
  };
}

export const CONVERSATION_STORIES: readonly Story[] = [
  {
    name: 'sampling',
    run: async ({ connect }) => {
      const questions: Fields[] = [];
      const client = await connect(keeping(REPLIES, questions));
      const result = await client.callTool('test_sampling', { prompt: 'Was ist „groß“?' });
      const second = await client.callTool('test_input_required_result_sampling');
      return { questions, result, second };
    },
  },
  {
    name: 'elicitation',
    run: async ({ connect }) => {
      const questions: Fields[] = [];
      const client = await connect(keeping(REPLIES, questions));
      const accepted = await client.callTool('test_elicitation', { message: 'Who are you?' });
      const rounds = await client.callTool('test_input_required_result_multi_round');
      const prompt = await client.getPrompt('test_input_required_result_prompt');
      const declining = await connect({ ...REPLIES, elicit: () => ({ action: 'decline' }) });
      const declined = await declining.callTool('test_elicitation', { message: 'Who are you?' });
      const enums = await declining.callTool('test_elicitation_sep1330_enums');
      const cancelling = await connect({ ...REPLIES, elicit: () => ({ action: 'cancel' }) });
      const cancelled = await cancelling.callTool('test_elicitation', { message: 'Who are you?' });
      return { questions, accepted, rounds, prompt, declined, enums, cancelled };
    },
  },
  {
    name: 'roots',
    run: async ({ connect }) => {
      const client = await connect();
      const result = await client.callTool('test_list_roots');
      const none = await connect({ ...REPLIES, roots: [] });
      const together = await client.callTool('test_input_required_result_multiple_inputs');
      return { result, none: await none.callTool('test_list_roots'), together };
    },
  },
  {
    name: 'two clients at once',
    run: async ({ connect }) => {
      const [left, right] = await Promise.all([connect(named('left')), connect(named('right'))]);
      const [ofLeft, ofRight] = await Promise.all([work(left, 'left'), work(right, 'right')]);
      return { left: ofLeft, right: ofRight };
    },
  },
];

function named(name: string): Replies {
  return {
    elicit: () => ({ action: 'accept', content: { name, username: name, email: `${name}@example.com` } }),
    sample: () => `sampled by ${name}`,
    roots: [`file:///${name}`],
  };
}

/** Everything at the same time: calls, questions of the server, progress. */
async function work(client: StoryClient, name: string): Promise<Fields> {
  const rounds = Array.from({ length: 10 }, (_, round) => round);
  const [echoed, sampled, elicited, roots, progressed] = await Promise.all([
    Promise.all(rounds.map((round) => client.callTool('test_echo', { value: `${name} ${round}` }))),
    Promise.all(rounds.map(() => client.callTool('test_sampling', { prompt: name }))),
    client.callTool('test_elicitation', { message: name }),
    client.callTool('test_list_roots'),
    client.callTool('test_tool_with_progress', {}, { progress: true }),
  ]);
  return { echoed, sampled, elicited, roots, progressed, progress: progressOf(client) };
}
