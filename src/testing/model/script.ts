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
   * Answers in turn. While its answers call tools a rule keeps the conversation, also through a compaction in the
   * middle; when they are used up it matches no more. Earlier rules win.
   */
  on(match: Match, ...answers: readonly Answer[]): void;
  /** One answer, as often as it is asked for, where no rule of `on` has one. */
  always(match: Match, answer: Answer): void;
  choose(request: ModelRequest): Promise<Choice>;
  /** Answers of `on` that nobody asked for yet. */
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

/** Summarisers and side questions come in between and are part of none. */
function conversationOf({ kind, session, agent = '' }: ModelRequest): string | undefined {
  return kind === 'main' || kind === 'subagent' ? `${session}/${agent}` : undefined;
}

function unscripted({ kind }: ModelRequest): Reply {
  if (kind === 'summariser') return summaryReply([]);
  return reply.text(kind === 'small' ? '{}' : 'Nothing in the script answers this.');
}
