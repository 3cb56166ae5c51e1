import { type Batch, given } from './batch.ts';
import type { CommandOf } from './command.ts';
import { locate } from './locate.ts';
import { renewLease } from './loops.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Note } from './state.ts';

const maxNote = 400;
const maxLasting = 3000;
const maxAnswer = 2000;

export function ask(batch: Batch, command: CommandOf<'ask'>): Refusal | undefined {
  const found = locate(batch.definition, batch.state, command.at);
  if ('refusal' in found) return found.refusal;
  if (!('cursor' in found) || found.cursor.waiting) return undefined;
  const at = batch.at(found.cursor);
  if (found.cursor.checking) {
    return refuse('checking', `the gates of ${at} are running`, 'ask when they are done', at);
  }
  const text = command.text.trim().slice(0, maxAnswer);
  if (text === '') return refuse('bad_note', 'the question is empty', 'ask what you need to know', at);
  batch.emit('question.asked', { id: `q${batch.state.questions.length + 1}`, at, text });
  return undefined;
}

export function answer(batch: Batch, command: CommandOf<'answer'>): Refusal | undefined {
  const open = batch.state.questions.filter(
    (question) => question.answer === undefined && isOpen(batch, question.id),
  );
  const question = command.question === undefined ? open[0] : open.find(({ id }) => id === command.question);
  if (!question || (command.question === undefined && open.length > 1)) {
    const ids = open.map(({ id }) => id).join(', ');
    const message = open.length > 1 ? `${open.length} questions are open` : 'no such question is open';
    return refuse('no_question', message, ids ? `name one of ${ids}` : 'ask for the status');
  }
  batch.emit('question.answered', { id: question.id, answer: command.text.trim().slice(0, maxAnswer) });
  return undefined;
}

const isOpen = (batch: Batch, id: string): boolean =>
  Object.values(batch.state.cursors).some(
    (cursor) => cursor.waiting?.kind === 'question' && cursor.waiting.id === id,
  );

const lasting = (kind: Note['kind']): boolean =>
  kind === 'decision' || kind === 'rejection' || kind === 'correction';

/** Kept word for word, so it is bounded; superseded by the same kind and key. */
export function note(batch: Batch, command: CommandOf<'note'>): Refusal | undefined {
  const { kind, key, at } = command;
  const text = command.text.trim();
  if (text === '') return refuse('bad_note', 'the note is empty', 'write down what must be remembered');
  if (text.length > maxNote) {
    return refuse('bad_note', `the note has ${text.length} characters, ${maxNote} are kept`, 'shorten it');
  }
  if ((kind === 'variable' || kind === 'reading') && key === undefined) {
    return refuse('bad_note', `a note of kind ${kind} needs a key`, 'send it again with a key');
  }
  if (lasting(kind)) {
    const live = batch.state.notes.filter(
      (other) => lasting(other.kind) && !(key !== undefined && other.kind === kind && other.key === key),
    );
    const used = live.reduce((sum, other) => sum + other.text.length, 0);
    if (used + text.length > maxLasting) {
      const keys = live.map((other) => other.key ?? other.id).join(', ');
      const message = `decisions, rejections and corrections hold ${used} of ${maxLasting} characters`;
      return refuse('notes_full', message, `replace one by its key: ${keys}`);
    }
  }
  batch.emit('note.added', { id: `n${batch.state.noteCount + 1}`, kind, text, ...given({ key, at }) });
  return undefined;
}

export function session(batch: Batch, command: CommandOf<'session'>): Refusal | undefined {
  const { session: id, event } = command;
  if (id === undefined) {
    return refuse('unknown_session', 'the session has no id', 'send the id that the host gives it');
  }
  if (event.type === 'started') {
    const { host, witness, environment } = event;
    batch.emit('session.started', { session: id, ...given({ host, witness, environment }) });
    return undefined;
  }
  if (!own(batch.state.sessions, id)) {
    return refuse(
      'unknown_session',
      `the session ${id} is not bound to this run`,
      'call with a handle first',
    );
  }
  for (const cursor of Object.values(batch.state.cursors)) {
    if (cursor.lease?.holder === id) renewLease(batch, cursor);
  }
  if (event.type === 'ended') batch.emit('session.ended', { session: id });
  if (event.type === 'delivered') {
    batch.emit('briefing.delivered', { session: id, briefing: event.briefing, proven: event.proven });
  }
  if (event.type === 'held') {
    const found = locate(batch.definition, batch.state, event.at);
    if ('refusal' in found) return found.refusal;
    if ('cursor' in found) batch.emit('stop.held', { at: event.at, session: id });
  }
  return undefined;
}
