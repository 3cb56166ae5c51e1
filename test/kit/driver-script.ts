/** What the scripted model of a driven session answers and what it was asked. */
import {
  contextOf,
  type LoggedRequest,
  type ModelRequest,
  type ReplyOptions,
  type ScriptedModel,
} from '../../src/testing/index.ts';
import { claudeHost } from './claude-host.ts';

const tool = (name: string, input: Record<string, unknown>) => claudeHost.own(name, input);

export const shell = (command: string, options: ReplyOptions = {}) => claudeHost.shell(command, options);

/** The verdict of a reviewer, whose prompt names the handle. */
export const verdict = (given: string, output: string) => (request: ModelRequest) =>
  tool('workflow_advance', { at: handleIn(request), verdict: given, output });

const handleIn = ({ lastUser }: ModelRequest): string =>
  [...lastUser.matchAll(/(?<![\w-])[0-9a-z]{6,16}:[\w./-]+#\d+/g)].at(-1)?.[0] ?? '';

/** The requests of the main conversations, in order. */
export const turnsOf = (model: ScriptedModel): LoggedRequest[] => model.requestsOf('main');

/** The ids of the briefings in a request, each as often as it is there. */
export const briefingsIn = (request: ModelRequest): string[] =>
  [...contextOf(request).matchAll(/Briefing (b-[0-9a-z]+) of run/g)].map(([, id = '']) => id);

/** The sessions of the requests, each once, in order. */
export const sessionsOf = (model: ScriptedModel): string[] => [
  ...new Set(turnsOf(model).map(({ session }) => session)),
];
