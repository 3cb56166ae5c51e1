import type { Environment, Host, HostSetup } from '../runtime/index.ts';
import { callIdOfSession } from './call-id.ts';
import { createCheckTool } from './check-tool.ts';
import { claudeCode } from './claude-code/index.ts';
import { codex } from './codex/index.ts';
import { copilot } from './copilot/index.ts';
import { gemini } from './gemini/index.ts';
import { openCode } from './opencode/index.ts';

/** Every host that Stepfast supports. The only registry: a new host is a folder and an entry here. */
export const hosts: readonly Host[] = [claudeCode, codex, openCode, copilot, gemini];

/** For names of tools in workflows. */
export const checkTool = createCheckTool(hosts.flatMap(({ tools }) => tools ?? []));

export const hostNamed = (name: string | undefined): Host | undefined =>
  hosts.find((host) => host.name === name);

/** How each host is installed. */
export const loadHostSetups = async (): Promise<HostSetup[]> =>
  await Promise.all(hosts.flatMap(({ setup }) => setup?.() ?? []));

/** Agent programs without an adapter here, and conventions that several of them share. */
const otherAgentVariables: readonly string[] = ['COPILOT_AGENT', 'CURSOR_AGENT', 'AGENT', 'AI_AGENT'];

/** A command that has one of these variables may have been started by an agent. */
export const agentVariables: readonly string[] = [
  ...hosts.flatMap(({ variables }) => variables.agent),
  ...otherAgentVariables,
  'STEPFAST_AGENT',
];

const hiddenFromGates: ReadonlySet<string> = new Set([
  ...hosts.flatMap(({ variables }) => [...variables.agent, ...variables.internal]),
  ...otherAgentVariables,
  'CURSOR_TRACE_ID',
]);

/** The environment for gates and other commands of the project: many programs behave differently under an agent. */
export const withoutAgentVariables = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !hiddenFromGates.has(name)));

/** The session whose shell runs this command, where its host says so. */
export const sessionIn = (env: Environment): string | undefined =>
  hosts
    .map(({ variables: { session } }) => session && env[session]?.trim())
    .find((id) => id !== undefined && id !== '');

/** The id of an MCP call, in its `_meta` or its arguments, as the host also gives it to the hook before the tool. */
export function callIdIn(meta: object | undefined): string | undefined {
  const id = Object.entries(meta ?? {}).find(([key]) => isCallIdKey(key))?.[1];
  return typeof id === 'string' ? id : undefined;
}

/** The arguments as the model gave them. */
export const withoutCallId = <T extends object>(given: T | undefined): Partial<T> | undefined =>
  given && (Object.fromEntries(Object.entries(given).filter(([key]) => !isCallIdKey(key))) as Partial<T>);

const isCallIdKey = (key: string): boolean => hosts.some(({ callIdKey }) => callIdKey === key);

/** The same for a host that gives a call no id: its server is started for one session, and knows it. */
export function sessionCallIdIn(env: Environment): string | undefined {
  const ids = hosts.flatMap(({ name, callIdKey, variables: { session } }) => {
    const id = callIdKey === undefined && session !== undefined ? env[session]?.trim() : undefined;
    return id ? callIdOfSession(name, id) : [];
  });
  return ids[0];
}
