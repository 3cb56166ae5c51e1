import type { CommandOf } from '../schema/index.ts';
import { criticalArtifacts } from './artifacts.ts';
import { type Batch, defined } from './batch.ts';
import { foreignHandle, locate } from './locate.ts';
import { noteLine, pool, supersedes } from './notes.ts';
import { own } from './own-property.ts';
import { sessionOwner } from './ownership.ts';
import { type Refusal, refuse, stillChecking } from './refusal.ts';
import { estimateTokens } from './tokens.ts';

const maxNote = 400;
/** Limits of a pool. Dense text such as hashes has many tokens for its length, so both are checked. */
const maxPool = 3000;
const maxPoolTokens = 1150;
const lineBreakTokens = 2;
const maxKept = 1000;
const maxPath = 1000;
const maxTrigger = 200;
const maxText = 2000;
const maxTodo = 64 * 1024;
const keyPattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

export function ask(batch: Batch, command: CommandOf<'ask'>): Refusal | undefined {
  const found = locate(batch, command.at);
  if ('refusal' in found) return found.refusal;
  if ('replay' in found)
    return refuse('stale_handle', { at: command.at ?? '' }, { action: { do: 'ask_status' } });
  const { cursor } = found;
  const at = batch.at(cursor);
  if (cursor.waiting) return refuse('already_waiting', { at }, { at, action: { do: 'ask_status' } });
  if (cursor.checking) return stillChecking(at);
  if (cursor.preparing) return undefined;
  const text = command.text.trim().slice(0, maxText);
  if (text === '') return refuse('bad_note', { why: 'empty', what: 'question' }, { at });
  batch.emit('question.asked', { id: `q${batch.state.questions.length + 1}`, at, text });
  return undefined;
}

export function answer(batch: Batch, command: CommandOf<'answer'>): Refusal | undefined {
  const open = batch.state.questions.filter(
    (question) => question.answer === undefined && isOpen(batch, question.id),
  );
  const question = command.question === undefined ? open[0] : open.find(({ id }) => id === command.question);
  if (!question || (command.question === undefined && open.length > 1)) {
    const ids = open.map(({ id }) => id);
    return refuse('no_question', { open: ids }, ids.length === 0 ? { action: { do: 'ask_status' } } : {});
  }
  batch.emit('question.answered', { id: question.id, answer: command.text.trim().slice(0, maxText) });
  return undefined;
}

const isOpen = (batch: Batch, id: string): boolean =>
  Object.values(batch.state.cursors).some(
    (cursor) => cursor.waiting?.kind === 'question' && cursor.waiting.id === id,
  );

/** Notes are stored verbatim and bounded: decisions, rejections and corrections share one pool, reminders have their own. */
export function note(batch: Batch, command: CommandOf<'note'>): Refusal | undefined {
  const { kind, key, at } = command;
  const text = command.text.trim();
  if (text === '') return refuse('bad_note', { why: 'empty', what: 'note' });
  if (text.length > maxNote) {
    return refuse('bad_note', { why: 'too_long', what: 'note', length: text.length, limit: maxNote });
  }
  if ((kind === 'variable' || kind === 'reading') && key === undefined) {
    return refuse('bad_note', { why: 'no_key', kind });
  }
  if (key !== undefined && !keyPattern.test(key)) {
    return refuse('bad_note', { why: 'bad_key', key: key.slice(0, 80) });
  }
  const full = noRoom(batch, command, text);
  if (full) return full;
  batch.emit('note.added', { id: `n${batch.state.noteCount + 1}`, kind, text, ...defined({ key, at }) });
  return undefined;
}

function noRoom({ state }: Batch, { kind, key }: CommandOf<'note'>, text: string): Refusal | undefined {
  const many = (known: object, what: 'artifacts' | 'named_artifacts' | 'variables'): Refusal | undefined =>
    Object.keys(known).length < maxKept
      ? undefined
      : refuse('notes_full', { why: 'count', what, limit: maxKept });
  if (kind === 'artefact' && !state.artefacts.includes(text)) {
    const full = many(state.artefacts, 'artifacts');
    if (full) return full;
  }
  if (kind === 'artefact' && key !== undefined && own(state.artifacts, key) === undefined) {
    return many(state.artifacts, 'named_artifacts');
  }
  if (kind === 'variable' && own(state.variables, key ?? '') === undefined)
    return many(state.variables, 'variables');
  if (kind === 'variable' || kind === 'artefact') return undefined;
  const live = state.notes.filter(
    (other) => pool(other.kind) === pool(kind) && !supersedes({ kind, key }, other),
  );
  const added = { kind, key: key ?? 'n', id: 'n', text };
  const characters = sum([...live, added].map((each) => each.text.length));
  const tokens = sum([...live, added].map((each) => estimateTokens(noteLine(each)) + lineBreakTokens));
  if (characters <= maxPool && tokens <= maxPoolTokens) return undefined;
  const keys = live.map((other) => (other.kind === kind ? (other.key ?? other.id) : other.id));
  return refuse('notes_full', {
    why: 'size',
    keys,
    ...(characters > maxPool
      ? { unit: 'characters', limit: maxPool }
      : { unit: 'tokens', limit: maxPoolTokens }),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

export function todo(batch: Batch, command: CommandOf<'todo'>): Refusal | undefined {
  const { content } = command;
  if (typeof content === 'string' && content.length > maxTodo) {
    return refuse('bad_note', { why: 'too_long', what: 'todo', length: content.length, limit: maxTodo });
  }
  batch.emit('todo.replaced', { content });
  return undefined;
}

export function read(batch: Batch, { path, hash, session: id }: CommandOf<'read'>): Refusal | undefined {
  const known = own(batch.state.reading, path) !== undefined;
  if (path.length > maxPath || (!known && Object.keys(batch.state.reading).length >= maxKept)) {
    return refuse('notes_full', { why: 'count', what: 'files_read', limit: maxKept });
  }
  batch.emit('file.read', { path, hash, ...defined({ session: id }) });
  return undefined;
}

/** Records artifacts that were shown to a session; ids that the workflow does not declare are ignored. */
export function loaded(batch: Batch, command: CommandOf<'loaded'>): Refusal | undefined {
  const { session: id } = command;
  const known = new Set(criticalArtifacts(batch.definition).map((artifact) => artifact.id));
  const artifacts = command.artifacts.filter((artifact) => known.has(artifact.id));
  if (id === undefined || !own(batch.state.sessions, id) || artifacts.length === 0) return undefined;
  batch.emit('artifacts.loaded', { trigger: command.trigger.slice(0, maxTrigger), artifacts, session: id });
  return undefined;
}

export function session(batch: Batch, command: CommandOf<'session'>): Refusal | undefined {
  const { session: id, event } = command;
  if (id === undefined) {
    return refuse('unknown_session', {});
  }
  if (event.type === 'started') {
    const { type: _, as, ...facts } = event;
    const owner = sessionOwner(command, as);
    batch.emit('session.started', { session: id, ...defined({ ...facts, owner }) });
    return undefined;
  }
  if (!own(batch.state.sessions, id)) {
    return refuse('unknown_session', { session: id });
  }
  if (event.type === 'ended') batch.emit('session.ended', { session: id });
  if (event.type === 'delivered') {
    batch.emit('briefing.delivered', { session: id, briefing: event.briefing, proven: event.proven });
  }
  if (event.type === 'compacted') {
    const { trigger, asked, found } = event;
    // Notes may have been replaced while the summary was written.
    const known = new Set(batch.state.notes.map((each) => each.id));
    const live = (ids: readonly string[]): string[] => ids.filter((each) => known.has(each));
    const [kept, lost] = [live(event.kept), live(event.lost)];
    batch.emit('compaction.recorded', { session: id, trigger, asked, found, kept, lost });
  }
  if (event.type === 'held') {
    const foreign = foreignHandle(batch.state, event.at, command);
    if (foreign) return foreign;
    const found = locate(batch, event.at);
    if ('refusal' in found) return found.refusal;
    if ('cursor' in found) batch.emit('stop.held', { at: event.at, session: id });
  }
  return undefined;
}
