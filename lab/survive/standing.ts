/** The parts of a request that count. */
import { contextOf, type ModelRequest } from '../../src/testing/index.ts';

export interface Standing {
  /** All text of the request. */
  whole: string;
  /** Without calls and results of tools, the agent's own words, and the echo of what a hook told the summariser. */
  counted: string;
  /** The same without the summary. */
  injected: string;
  /** Stepfast's alone. */
  briefing: string;
}

const echo = /<local-command-stdout>[\s\S]*?<\/local-command-stdout>/g;
/** Ends where the host's own text continues. */
const briefing =
  /\b(RUN\nBriefing b-\w+ of run [\s\S]*?)(?=\n*(?:<\/system-reminder>|\nToday's date is |$(?![\s\S])))/;
const summaryOpening = 'This session is being continued from a previous conversation';

export function standingIn(request: ModelRequest): Standing {
  const { system = [], messages } = request.body;
  const texts = [typeof system === 'string' ? system : system.map(({ text = '' }) => text).join('\n')];
  for (const { role, content } of messages) {
    if (role === 'assistant') continue;
    if (typeof content === 'string') texts.push(content);
    else for (const { type, text } of content) if (type === 'text' && text !== undefined) texts.push(text);
  }
  const counted = texts.map((text) => text.replaceAll(echo, ''));
  const injected = counted.filter((text) => !text.trimStart().startsWith(summaryOpening)).join('\n');
  return {
    whole: contextOf(request),
    counted: counted.join('\n'),
    injected,
    briefing: briefing.exec(injected)?.[1] ?? '',
  };
}
