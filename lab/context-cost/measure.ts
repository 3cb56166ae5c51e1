/** One workflow of twelve steps, driven to its end, with every request of the host counted. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { contextOf, lastUser, type ModelRequest, reply } from '../../src/testing/index.ts';
import { createDriverStage } from '../../test/kit/driver-run.ts';

export const stepCount = 12;
export const variants = ['none', 'compact', 'clear'] as const;
export type Variant = (typeof variants)[number];

export interface Measured {
  variant: Variant;
  /** Input tokens of all requests of a step, those of a compaction before it included. */
  steps: number[];
  /** The largest request. */
  peak: number;
  requests: number;
  sessions: number;
  compactions: number;
}

const number = (index: number): string => String(index + 1).padStart(2, '0');

/** Without a context action, with one before every third step, or before every step. */
function contextOfStep(variant: Variant, index: number): string {
  if (variant === 'clear' && index > 0) return ', context: clear';
  return variant === 'compact' && index > 0 && index % 3 === 0 ? ', context: compact' : '';
}

const workflow = (variant: Variant): string =>
  [
    'name: w',
    'description: Twelve chapters',
    'steps:',
    ...Array.from(
      { length: stepCount },
      (_, index) =>
        `  - { id: step-${number(index)}, type: action${contextOfStep(variant, index)}, instructions: "Read notes/${number(index)}.md and write out/${number(index)}.txt.", gate: [{ exists: out/${number(index)}.txt }] }`,
    ),
    '',
  ].join('\n');

/** About 6 KB, with no line twice. */
const notes = (index: number): string =>
  Array.from(
    { length: 75 },
    (_, line) =>
      `Chapter ${index + 1}, line ${line + 1}: part ${(line * 37 + index * 11) % 100} of the shop has ${(line * 53 + index) % 97} items on shelf ${line % 13}.`,
  ).join('\n');

export async function measure(variant: Variant): Promise<Measured> {
  const chapters = Array.from({ length: stepCount }, (_, index) => index);
  const stage = await createDriverStage({
    '.stepfast/workflows/w.yaml': workflow(variant),
    '.claude/settings.json': '{ "permissions": { "allow": ["Bash", "Read", "Write", "Edit"] } }',
    ...Object.fromEntries(chapters.map((index) => [`notes/${number(index)}.md`, notes(index)])),
  });
  try {
    const { model } = stage;
    for (const index of chapters) {
      const path = (request: ModelRequest, file: string): string =>
        `${/working directory: (\S+)/i.exec(contextOf(request))?.[1]}/${file}`;
      model.on(
        lastUser(new RegExp(`write out/${number(index)}\\.txt`)),
        (request) => reply.tool('Read', { file_path: path(request, `notes/${number(index)}.md`) }),
        (request) =>
          reply.tool('Write', {
            file_path: path(request, `out/${number(index)}.txt`),
            content: `Chapter ${index + 1} is read.\n`,
          }),
        reply.text(`Chapter ${index + 1} is read and written down.`),
      );
    }
    const { code, stdout, stderr } = await stage.drive(['w', '--no-wait']);
    if (code !== 0) throw new Error(`the run ended with ${code}\n${stdout}${stderr}`);
    const unmatched = model.unmatched().filter(({ kind }) => kind === 'main');
    if (unmatched.length > 0) throw new Error(`nothing answers ${unmatched[0]?.lastUser}`);
    return count(variant, model.all());
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}

/** A request whole, as it is sent: system, tools and messages. What a cache would save is not taken off. */
const tokensOf = (request: ModelRequest): number =>
  encode(contextOf(request)).length + encode(JSON.stringify(request.body.tools ?? [])).length;

function count(variant: Variant, requests: readonly ModelRequest[]): Measured {
  const steps = Array.from({ length: stepCount }, () => 0);
  let peak = 0;
  for (const [index, request] of requests.entries()) {
    const tokens = tokensOf(request);
    peak = Math.max(peak, tokens);
    // The request of a compaction belongs to the step that asks for it, which follows.
    const step = requests.slice(index).find(({ kind }) => kind === 'main') ?? request;
    const [, chapter] = /write out\/(\d\d)\.txt/.exec(step.lastUser) ?? [];
    const at = chapter === undefined ? stepCount - 1 : Number(chapter) - 1;
    steps[at] = (steps[at] ?? 0) + tokens;
  }
  return {
    variant,
    steps,
    peak,
    requests: requests.length,
    sessions: new Set(requests.map(({ session }) => session)).size,
    compactions: requests.filter(({ kind }) => kind === 'summariser').length,
  };
}
