/** `docs/survival.md`, from measured results alone. */

import { median } from '../figures.ts';
import { type Kind, kinds } from './fact.ts';
import type { HostOutcome } from './host.ts';
import { type MechanismName, mechanismNames } from './mechanism.ts';
import { mean, numbers, type Outcome, percent } from './outcome.ts';
import { createStory } from './story.ts';
import { type SummariserName, summariserNames } from './summarisers.ts';

const heads: Record<MechanismName, string> = {
  stepfast: 'Stepfast',
  'seed-002': 'seed 002',
  none: 'neither',
};
const summarisers: Record<SummariserName, string> = {
  forgets: 'forgets everything',
  measured: 'keeps as measured',
  keeps: 'keeps everything',
};

export function page(outcomes: readonly Outcome[], hosts: readonly HostOutcome[]): string {
  const get = (mechanism: MechanismName, summariser: SummariserName): Outcome => {
    const found = outcomes.find((each) => each.mechanism === mechanism && each.summariser === summariser);
    if (!found) throw new Error(`no result of ${mechanism} with ${summariser}`);
    return found;
  };
  const all = (mechanism: MechanismName): Outcome[] => summariserNames.map((name) => get(mechanism, name));
  const overall = (mechanism: MechanismName): string => percent(mean(all(mechanism).map(({ kept }) => kept)));
  const stepfast = get('stepfast', 'forgets');
  const { compactions, manual, auto, facts } = stepfast;
  const rows = summariserNames.map((name) => [
    summarisers[name],
    ...mechanismNames.map((mechanism) => {
      const { kept, keptAtTheEnd } = get(mechanism, name);
      return `${percent(kept)} (${percent(keptAtTheEnd)})`;
    }),
  ]);
  const strict = summariserNames.flatMap((name) =>
    mechanismNames.map((mechanism) => {
      const { kept, keptWithEcho, keptWithoutSummary, stale } = get(mechanism, name);
      return [
        summarisers[name],
        heads[mechanism],
        percent(kept),
        percent(keptWithEcho),
        percent(keptWithoutSummary),
        String(stale),
      ];
    }),
  );
  return `# What survives a compaction

\`lab/survive/\`: the measurement. \`docs/survival.json\`: its results; this page and the picture are written from them by \`npm run survive -- --write\`, and by \`--draw\` without measuring again.

One run of a workflow goes through ${compactions} compactions of the real Claude Code, ${manual} by \`/compact\` and ${auto} automatic ones in the middle of a tool loop. After each of them the first request that the model gets is searched for ${facts} facts, word for word. The same conversation is held with Stepfast, with the practice that it was asked to replace ("seed 002": a state file that a hook writes before a compaction, and one guidance text from the newest such file after it; [requirements](requirements.md#002-workflow-state-that-survives-compaction)), and with neither.

<p align="center"><img src="survival.svg" alt="Share of facts that stand in the first request after each compaction: Stepfast ${overall('stepfast')}, seed 002 ${overall('seed-002')}, neither ${overall('none')}" width="960"></p>

Share of facts over all compactions, and after the last one:

${table(['summariser', ...mechanismNames.map((name) => heads[name])], [...rows, ['mean', ...mechanismNames.map(overall)]])}

## What counts

- **The request.** System and messages of the first request after the compaction. Not the calls and results of tools, not the agent's own words, and not the echo of what the PreCompact hook told the summariser (the host shows it after \`/compact\`). A turn without facts precedes every compaction, because the host keeps the last round word for word.
- **A fact** counts where its words stand and those that it replaced do not: every fifth compaction a decision takes the place of another, every fourth the run goes on to the next sub-step, one file changes after it was read and one is read later. For Stepfast the next action must also have its handle.
- **Three summarisers**, each of which knows only what stands in the request it gets, and drops what was replaced: one that forgets everything, one that keeps facts at the rates that were measured for summaries of coding sessions (77 % of decisions, 9.8 % of paths, 0.2 % of commands; sentences of other kinds are counted as decisions, values as paths), and one that keeps everything.
- **With Stepfast** the plugin is loaded as a user has it, and the agent calls its tools: \`workflow_start\`, \`workflow_note\` when something is decided, \`workflow_advance\`. Reading and writing of files is seen by the hooks.
- **With seed 002** the agent keeps \`CLAUDE.local.md\` and the state file as the seed asks for it, at the start and at each transition, and beyond it after each decision, and puts every fact that has a place in the format there, also those that the seed's own examples leave out. PreCompact updates the file, SessionStart prints the guidance from the newest one. Each time the agent writes what the file has and what its context holds; what was forgotten before cannot be written. What was read has no place in the format.

With the echo, without the summary, and how often a text that was replaced stood in a request:

${table(['summariser', 'mechanism', 'kept', 'with the echo', 'without the summary', 'stale'], strict)}

Stepfast's column without the summary is what the briefing brings by itself. What "neither" has left with a summariser that forgets are two paths: Claude Code itself reads files again that were written before.

## Which facts

With the summariser that keeps facts as measured:

${table(
  ['kind', ...mechanismNames.map((name) => heads[name])],
  byKind(kinds, (mechanism) => get(mechanism, 'measured')),
)}

## Other hosts

\`npm run survive -- --host NAME --compactions 30\`: the same story in other hosts, every other compaction by hand, with a summariser that forgets everything. Only what stands in the briefing counts, because some hosts keep earlier words of users. "Next request": the briefing is in the first request after the compaction. "Next turn": it comes with the next prompt or tool call.

<p align="center"><img src="survival-hosts.svg" alt="Share of facts in the briefing after each compaction, for each host" width="960"></p>

${table(
  ['host', 'compactions', 'facts', 'kept', 'where'],
  hosts.map(({ host, compactions: all, manual: byHand, facts: told, kept, where }) => [
    host,
    `${all} (${byHand} by hand)`,
    String(told),
    percent(kept),
    where,
  ]),
)}

## What it costs

${costs(all('stepfast'), all('none'), all('seed-002'))}

## Limits

- The model is a script. Whether a real model acts on what it is told is not measured here; what is measured is that it was told.
- The facts are those that Stepfast was told. What an agent never notes is not kept, by anybody.
- One workflow, one session, one project. With a second workflow in the project seed 002 would print whichever file is newest; that is not measured.
- A summariser that repeated what was replaced would bring it back in its own words; the briefing cannot take it out of the summary.

\`npm run survive -- --compactions 6\` is the size of \`npm run long\`; it exits with 1 where Stepfast loses a fact.
`;
}

function byKind(all: readonly Kind[], get: (mechanism: MechanismName) => Outcome): string[][] {
  return all.map((kind) => [kind, ...mechanismNames.map((name) => percent(get(name).byKind[kind] ?? 0))]);
}

function costs(stepfast: readonly Outcome[], none: readonly Outcome[], seed: readonly Outcome[]): string {
  const briefings = stepfast.flatMap((outcome) => (outcome.briefings ? [outcome.briefings] : []));
  const total = (pick: (each: (typeof briefings)[number]) => number): number =>
    briefings.reduce((sum, each) => sum + pick(each), 0);
  const characters = briefings.map((each) => numbers(each.characters));
  const tokens = briefings.map((each) => numbers(each.tokens));
  const range = (lists: readonly number[][]): string[] => [
    grouped(lists[0]?.[0] ?? 0),
    grouped(lists[0]?.at(-1) ?? 0),
    grouped(Math.max(...lists.flat())),
  ];
  const cut = stepfast.reduce((sum, each) => sum + each.cut, 0);
  const times = ([name, outcomes]: [string, readonly Outcome[]]): string[] => [
    name,
    `${grouped(median(outcomes.map(({ manualMs }) => manualMs)))} ms`,
    `${grouped(median(outcomes.map(({ autoMs }) => autoMs)))} ms`,
  ];
  const lasting = createStory(1)
    .facts()
    .filter(({ kind }) => ['decision', 'rejection', 'correction'].includes(kind)).length;
  const filled = stepfast.flatMap((outcome) => (outcome.filled ? [outcome.filled] : []))[0];
  return [
    `${grouped(total(({ injected }) => injected))} briefings were injected after a compaction: ${grouped(total(({ proven }) => proven))} were found in the conversation afterwards, the same to the letter; ${cut} arrived cut, ${total(({ repaired }) => repaired)} had to be repeated, ${total(({ gaveUp }) => gaveUp)} were given up.`,
    '',
    table(
      ['a briefing', 'after the first', 'after the last', 'the longest'],
      [
        ['characters', ...range(characters)],
        ['tokens (o200k)', ...range(tokens)],
      ],
    ),
    '',
    'What was done grows with the run, and a briefing with it, up to its budget of 2,500 estimated tokens; then the older part of the history is named by number and section.',
    '',
    table(
      ['from the command to the next request, half of them within', '`/compact`', 'automatic'],
      [
        times(['Stepfast (all hooks of the compaction)', stepfast]),
        times(['seed 002', seed]),
        times(['neither', none]),
      ],
    ),
    '',
    'Times are those of the machine that measured, with two runs at once; their differences are what hooks add.',
    ...(filled
      ? [
          '',
          `Notes are bounded, so that a briefing always holds all of them: beside the ${lasting} decisions, rejections and corrections of this run, ${filled.notes} more of ${Math.round(filled.characters / filled.notes)} characters went in before one was refused ("${filled.refusal}"). After the next compaction ${filled.standing} of these ${filled.notes} and ${filled.facts} of the ${stepfast[0]?.facts} facts stood in the request, in a briefing of ${grouped(filled.briefing)} characters. With notes up to their bound, values and files beyond their share of the briefing are named by number and section; a larger \`briefing.budget\` in the workflow shows them. A refusal names the keys that a note could replace; this run replaces decisions by their keys, so their number stays the same.`,
        ]
      : []),
  ].join('\n');
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const grouped = (value: number): string => value.toLocaleString('en-GB');
