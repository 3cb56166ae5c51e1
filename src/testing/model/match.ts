import { contextOf, type ModelRequest, toolsOf } from './request.ts';

export type Match = (request: ModelRequest) => boolean;

/** A turn of the main conversation, by what the person wrote last. */
export function lastUser(pattern: RegExp): Match {
  return ({ kind, lastUser: text }) => kind === 'main' && pattern.test(text);
}

/** Any turn of the main conversation. */
export function mainTurn(): Match {
  return ({ kind }) => kind === 'main';
}

/** A turn of a subagent, by what it was asked to do. */
export function subagent(pattern = /(?:)/): Match {
  return ({ kind, lastUser: text }) => kind === 'subagent' && pattern.test(text);
}

/** The request of a compaction. */
export function summariser(): Match {
  return ({ kind }) => kind === 'summariser';
}

/** A side question of the host, by all text in it. */
export function small(pattern = /(?:)/): Match {
  return (request) => request.kind === 'small' && pattern.test(contextOf(request));
}

export function withTool(name: string | RegExp): Match {
  const fits = (tool: string) => (typeof name === 'string' ? tool === name : name.test(tool));
  return (request) => toolsOf(request).some(fits);
}

/** Any request, by its system prompt. */
export function systemPrompt(pattern: RegExp): Match {
  return ({ body: { system } }) =>
    pattern.test(
      contextOf({ body: { model: '', messages: [], ...(system === undefined ? {} : { system }) } }),
    );
}

export function allOf(...matches: readonly Match[]): Match {
  return (request) => matches.every((match) => match(request));
}
