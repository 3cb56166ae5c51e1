import type { Match } from './match.ts';
import { type Answer, callsTool, type Reply, reply } from './reply.ts';
import type { ModelRequest } from './request.ts';
import { summaryReply } from './summary.ts';

export interface Choice {
  reply: Reply;
  matched: boolean;
}

export interface Script {
  /**
   * Replies in order. While its replies call tools, a rule keeps the conversation, also through a compaction. Without
   * replies left it no longer matches. Earlier rules win.
   */
  on(match: Match, ...answers: readonly Answer[]): void;
  /** A reply for every request that no rule of `on` matches. */
  always(match: Match, answer: Answer): void;
  choose(request: ModelRequest): Promise<Choice>;
  /** Replies of `on` that were not used yet. */
  left(): number;
}

interface Rule {
  match: Match;
  answers: Answer[];
}

export function createScript(): Script {
  const rules: Rule[] = [];
  const standing: { match: Match; answer: Answer }[] = [];
  const holders = new Map<string, Rule>();

  const ruleFor = (request: ModelRequest): Rule | undefined => {
    const holder = holders.get(conversationOf(request) ?? '');
    if (holder && holder.answers.length > 0) return holder;
    return rules.find(({ match, answers }) => answers.length > 0 && match(request));
  };

  return {
    on: (match, ...answers) => {
      rules.push({ match, answers: [...answers] });
    },
    always: (match, answer) => {
      standing.push({ match, answer });
    },
    choose: async (request) => {
      const rule = ruleFor(request);
      const answer = rule?.answers.shift() ?? standing.find(({ match }) => match(request))?.answer;
      const made = typeof answer === 'function' ? await answer(request) : answer;
      const conversation = conversationOf(request);
      if (conversation !== undefined) {
        if (rule && made && callsTool(made)) holders.set(conversation, rule);
        else holders.delete(conversation);
      }
      return made ? { reply: made, matched: true } : { reply: unscripted(request), matched: false };
    },
    left: () => rules.reduce((sum, { answers }) => sum + answers.length, 0),
  };
}

/** Summarizer requests and side questions are part of no conversation. */
function conversationOf({ kind, session, agent = '' }: ModelRequest): string | undefined {
  return kind === 'main' || kind === 'subagent' ? `${session}/${agent}` : undefined;
}

function unscripted({ kind }: ModelRequest): Reply {
  if (kind === 'summariser') return summaryReply([]);
  return reply.text(kind === 'small' ? '{}' : 'Nothing in the script answers this.');
}
