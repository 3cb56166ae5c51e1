/** Runs inside OpenCode. Translates its hooks to events of Stepfast, and applies the answers. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HookOutput } from '../../../runtime/index.ts';
import type { EventName } from '../events.ts';
import { callIdKey, sessionVariable } from '../events.ts';
import { hostName } from '../parse-payload.ts';
import { kindOfTool } from '../tool-use.ts';
import type { Event, Hooks, Message, MessageInfo, PluginInput, ToolInput } from './api.ts';
import { openTranscripts } from './record.ts';
import { newSession, type PluginSession, rootOf } from './session.ts';
import { createShim } from './shim.ts';
import { createTurns } from './turns.ts';

const template = `The person typed a command of Stepfast: $ARGUMENTS

If Stepfast's own answer follows, act on that. Otherwise the first word is a command: \`start\` (a workflow and what is to be done: call stepfast_workflow_start with \`workflow\`, \`summary\` and \`inputs\`, and ask for inputs that are missing), \`go\` (like start, with the workflow 'go' and its input 'task'), or \`status\` (call stepfast_workflow_status and report run, step, next action and failed gates in a few lines, without going on). Decisions such as approve are made by the person in a terminal: say so.`;

/** A driver's plugin and one that the person installed may both be loaded. */
const loaded: Set<string> = Object.assign(globalThis, {
  stepfastIn: Reflect.get(globalThis, 'stepfastIn') ?? new Set(),
}).stepfastIn;

export const Stepfast = async ({ client, directory }: PluginInput): Promise<Partial<Hooks>> => {
  if (loaded.has(directory)) return {};
  loaded.add(directory);
  // dist/opencode-plugin.js
  const shim = createShim(dirname(dirname(fileURLToPath(import.meta.url))), directory);
  const transcripts = openTranscripts(process.env);
  const sessions = new Map<string, PluginSession>();
  const inTui = !['run', 'serve', 'web', 'acp', 'github', 'pr'].includes(process.argv[2] ?? '');
  let current: PluginSession | undefined;
  const turns = createTurns({
    client,
    shim,
    inTui,
    baseOf,
    forget,
    ended: ({ id }, turn, then) => transcripts.write(id, { type: 'idle', turn, then }),
  });

  /** The parts of every payload. A subagent is part of the session that started it. */
  function baseOf(session: PluginSession): object {
    const root = rootOf(session);
    return {
      host: hostName,
      session_id: root.id,
      cwd: directory,
      transcript_path: transcripts.pathOf(root.id),
      prompt_id: session.turn?.id,
      ...(session.parent ? { agent_id: session.id, agent_type: session.agent || 'general' } : {}),
    };
  }

  const fire = async (
    session: PluginSession,
    mark: string,
    event: EventName,
    more: object = {},
  ): Promise<HookOutput> => {
    const output = await shim.fire(mark, event, { ...baseOf(session), ...more });
    if (output.context !== undefined) session.unsent.push(output.context);
    turns.say(output.say);
    return output;
  };

  async function sessionOf(id: string): Promise<PluginSession> {
    const known = sessions.get(id);
    if (known) return known;
    const { data } = await client.session.get({ path: { id } }).catch(() => ({ data: undefined }));
    const parent = data?.parentID === undefined ? undefined : await sessionOf(data.parentID);
    const session = sessions.get(id) ?? newSession(id, parent);
    sessions.set(id, session);
    return session;
  }

  function forget(session: PluginSession): void {
    session.endWake?.();
    session.started = false;
    session.reported = session.summary ?? '';
  }

  /** The first prompt of a session in this process. */
  async function start(session: PluginSession): Promise<HookOutput> {
    session.started = true;
    if (session.parent) return await fire(session, 'subagent_start', 'subagent.start');
    transcripts.write(session.id, { type: 'session', id: session.id });
    const before = await client.session
      .messages({ path: { id: session.id }, query: { limit: 2 } })
      .catch(() => ({ data: [] }));
    const isNew = (before.data ?? []).length === 0;
    const left = inTui && isNew && current !== session ? current : undefined;
    current = session;
    if (left?.started) {
      await fire(left, 'session_end', 'session.end', { reason: 'clear' });
      forget(left);
    }
    const source = !isNew ? 'resume' : left || turns.tookOver(session.id) ? 'clear' : 'startup';
    return await fire(session, 'session_start', 'session.start', { source });
  }

  /** Reports a compaction that has not been reported. */
  async function afterCompaction(session: PluginSession): Promise<HookOutput> {
    if (session.summary === undefined || session.summary === session.reported) return {};
    session.reported = session.summary;
    session.anchored = [];
    return await fire(session, 'session_start', 'session.start', {
      source: 'compact',
      prompt_id: session.summary,
    });
  }

  async function onPrompt(session: PluginSession, message: MessageInfo, text: string): Promise<string[]> {
    const own = session.own.findIndex((each) => text.startsWith(each.text));
    const [continued] = own < 0 ? [] : session.own.splice(own, 1);
    const typed = session.typed;
    delete session.typed;
    session.turn = {
      id: message.id,
      ...(continued?.continues === undefined ? {} : { continues: continued.continues }),
    };
    session.busy = false;
    if (!continued) session.held = 0;
    session.endWake?.();
    if (message.model) session.model = message.model;
    const fresh = session.started ? await afterCompaction(session) : await start(session);
    if (!session.parent) {
      transcripts.write(session.id, { type: 'turn', ...session.turn });
    }
    // What was just injected is in no request yet.
    const isDone = session.parent !== undefined || continued?.continues !== undefined;
    const isEarly =
      fresh.context !== undefined && typed === undefined && !/^continue[.!]?$/i.test(text.trim());
    const answered =
      isDone || isEarly ? {} : await fire(session, 'prompt', 'chat.message', { prompt: typed ?? text });
    turns.say(answered.stop);
    const told =
      answered.stop === undefined ? [] : [`Tell the person, and do nothing else: ${answered.stop}`];
    return [fresh.context, answered.context, ...told].filter((each) => each !== undefined);
  }

  /** Proves what a request contains, and adds what only a request can carry. */
  async function onRequest(messages: Message[]): Promise<void> {
    const id = messages[0]?.info.sessionID;
    const session = id === undefined ? undefined : sessions.get(id);
    if (!session) return;
    const summary = messages.findLast(({ info }) => info.role === 'assistant' && info.summary === true);
    // The events of a compaction may come later than this request.
    if (summary?.info.finish !== undefined) compacted(session, summary.info.id, textOf(summary));
    const last = messages.findLast(({ info }) => info.role === 'user');
    const { context = await reported(session, last?.info.id) } = session.started
      ? await afterCompaction(session)
      : {};
    if (context !== undefined && last) session.anchored.push({ message: last.info.id, text: context });
    for (const { message, text } of session.anchored) {
      const { info, parts } = messages.find((each) => each.info.id === message) ?? {};
      if (!info || !parts) continue;
      const place = { sessionID: info.sessionID, messageID: info.id };
      parts.push({ ...place, id: `prt_stepfast${parts.length}`, type: 'text', text, synthetic: true });
    }
    const all = messages.map(textOf).join('\n');
    for (const text of session.unsent.filter((each) => all.includes(each)))
      transcripts.write(rootOf(session).id, { type: 'sent', text });
    session.unsent = session.unsent.filter((each) => !all.includes(each));
  }

  /** The host counts what a message has cost after its tools: a driver ends a turn whose budget is used up. */
  async function reported(session: PluginSession, id: string | undefined): Promise<string | undefined> {
    if (process.env.STEPFAST_DRIVEN === undefined || !session.usedTool) return undefined;
    session.usedTool = false;
    const use = { tool_name: 'request', tool_use_id: `${id}:${session.assistant}` };
    return (await fire(session, 'after_tool-shell', 'tool.after', use)).context;
  }

  function compacted(session: PluginSession, id: string, summary: string): void {
    if (session.summary === id) return;
    const isKnown = session.summary !== undefined || session.compacting;
    session.summary = id;
    // One of an earlier process: the session was briefed when it was resumed.
    if (!isKnown) session.reported = id;
    else if (!session.parent)
      transcripts.write(session.id, { type: 'compacted', trigger: session.trigger, summary });
    session.compacting = false;
  }

  async function onEvent({ type, properties }: Event): Promise<void> {
    const { info, part, error, status } = properties;
    const session = sessions.get(properties.sessionID ?? info?.sessionID ?? '');
    if (!session) return;
    if (type === 'message.updated' && info?.role === 'assistant') onAssistant(session, info);
    if (type === 'message.part.updated' && part?.type === 'compaction')
      session.trigger = part.auto === true ? 'auto' : 'manual';
    if (type === 'message.part.updated' && part?.type === 'text' && part.messageID === session.assistant)
      session.lastText = part.text ?? '';
    // By the person, or by the model service. Too long a context is compacted, and the turn goes on.
    if (type === 'session.error' && error?.name !== 'ContextOverflowError') turns.aborted(session);
    if (type === 'session.status' && status?.type === 'busy') session.busy = true;
    if (type === 'session.idle') await turns.idle(session);
    if (type !== 'session.deleted') return;
    if (session.started && !session.parent)
      await fire(session, 'session_end', 'session.end', { reason: 'other' });
    forget(session);
    sessions.delete(session.id);
    transcripts.remove(session.id);
  }

  function onAssistant(session: PluginSession, info: MessageInfo): void {
    const { id, summary, tokens, cost = 0, finish } = info;
    if (session.assistant !== id) {
      session.assistant = id;
      session.lastText = '';
    }
    if (summary === true && finish !== undefined) compacted(session, id, session.lastText);
    const root = rootOf(session);
    const spent = tokens ? tokens.input + tokens.output + tokens.reasoning + tokens.cache.write : 0;
    const turn = root.turn?.id;
    if (spent > 0 && turn !== undefined)
      transcripts.write(root.id, { type: 'usage', turn, message: id, tokens: spent, cost });
  }

  const beforeTool = async ({ tool, sessionID, callID }: ToolInput, args: object): Promise<void> => {
    const session = await sessionOf(sessionID);
    const kind = kindOfTool(tool);
    session.usedTool = true;
    const root = rootOf(session);
    if (root.turn) transcripts.write(root.id, { type: 'tool', turn: root.turn.id, name: tool });
    const mark = kind === 'stepfast' || kind === 'agent' ? `before_tool-${kind}` : 'before_tool';
    const use = { tool_name: tool, tool_input: args, tool_use_id: callID };
    const { deny } = await fire(session, mark, 'tool.before', use);
    // The model reads it as the result of the call.
    if (deny !== undefined) throw new Error(deny);
    if (kind === 'stepfast') Object.assign(args, { [callIdKey]: callID });
  };

  return {
    async config(config) {
      const description = 'Stepfast: start <workflow> <what>, go <task>, resume, status';
      config.command = { stepfast: { template, description }, ...config.command };
      if (typeof config.permission === 'string') return;
      config.permission = { 'stepfast_*': 'allow', ...(config.permission ?? {}) };
    },
    event: async ({ event }) => await onEvent(event),
    'command.execute.before': async ({ command, sessionID, arguments: words }) => {
      if (command === 'stepfast') (await sessionOf(sessionID)).typed = `/stepfast ${words}`;
    },
    'chat.message': async ({ sessionID, agent }, { message, parts }) => {
      const session = await sessionOf(sessionID);
      session.agent = agent ?? session.agent;
      const text = parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('\n');
      const added = await onPrompt(session, message, text);
      for (const [index, each] of added.entries()) {
        const place = { sessionID, messageID: message.id, type: 'text', synthetic: true };
        // Parts are sorted by their ids.
        parts.push({ ...place, id: `prt_zz${Date.now().toString(36)}${index}`, text: each });
      }
    },
    'shell.env': async ({ sessionID }, { env }) => {
      if (sessionID !== undefined) env[sessionVariable] = rootOf(await sessionOf(sessionID)).id;
    },
    'tool.execute.before': async (input, { args }) => await beforeTool(input, args),
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const kind = kindOfTool(tool);
      if (kind === 'other' || kind === 'agent') return;
      const { output: text, content, metadata } = output;
      const { context } = await fire(await sessionOf(sessionID), `after_tool-${kind}`, 'tool.after', {
        tool_name: tool,
        tool_input: args,
        tool_use_id: callID,
        tool_response: text ?? content,
        tool_metadata: metadata,
      });
      if (context === undefined) return;
      if (Array.isArray(content)) content.push({ type: 'text', text: context });
      else output.output = `${String(text ?? '')}\n\n${context}`;
    },
    'experimental.chat.messages.transform': async (_, { messages }) => await onRequest(messages),
    'experimental.session.compacting': async ({ sessionID }, { context }) => {
      const session = await sessionOf(sessionID);
      session.compacting = true;
      const { survive } = await fire(session, 'before_compact', 'session.compacting', {
        trigger: session.trigger,
      });
      if (survive !== undefined) context.push(survive);
    },
    dispose: async () => {
      loaded.delete(directory);
      shim.endAll();
    },
  };
};

const textOf = ({ parts }: Message): string =>
  parts.map(({ text, state }) => text ?? (typeof state?.output === 'string' ? state.output : '')).join('\n');
