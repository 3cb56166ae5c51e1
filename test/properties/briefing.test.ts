import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Briefing, type BriefingSource, type Cap, compileBriefing } from '../../src/context/index.ts';
import { estimateTokens, leastBriefing } from '../../src/machine/index.ts';
import { randomCap, randomSource } from './briefings.ts';
import { Dice } from './dice.ts';
import { missingIn } from './whole.ts';
import { workflow } from './workflows.ts';

const source = fc.tuple(workflow, fc.nat()).map(([definition, seed]) => randomSource(definition, seed));
const cap = fc.nat().map((seed) => randomCap(new Dice(seed)));
const runs = { numRuns: 12 };

test('the same source gives the same bytes', () => {
  fc.assert(
    fc.property(source, cap, (from, most) => {
      const copy: BriefingSource = JSON.parse(JSON.stringify(from));
      expect(compileBriefing(copy, most)).toEqual(compileBriefing(from, most));
    }),
    runs,
  );
  expect.assertions(runs.numRuns);
});

test('no briefing is over its budget, in either form', () => {
  fc.assert(
    fc.property(source, cap, (from, most) => {
      const { text, markdown, tokens, characters } = compileBriefing(from, most);
      expect(tokens).toBe(estimateTokens(markdown));
      expect(characters).toBe(markdown.length);
      for (const form of [text, markdown]) {
        expect(estimateTokens(form)).toBeLessThanOrEqual(most.tokens ?? Infinity);
        expect(form.length).toBeLessThanOrEqual(most.characters ?? Infinity);
      }
    }),
    runs,
  );
});

test('run, next action, instructions and notes are whole, whatever the budget', () => {
  fc.assert(
    fc.property(source, (from) => {
      const small = compileBriefing(from, leastBriefing);
      expect(missingIn(small, from)).toEqual([]);
      const large = compileBriefing(from, {});
      const whole = ({ sections, id }: Briefing): string[] =>
        sections
          .filter(({ name }) => ['run', 'action', 'instructions', 'notes'].includes(name))
          .map(({ text }) => text.replace(id, '').replace(notIncluded, ''));
      expect(whole(small)).toEqual(whole(large));
    }),
    runs,
  );
});

/** What is included no longer has to be loaded. */
const notIncluded = /^Load first: .*\n/m;

/** Item by item; a line that became a text, or a pointer, is no loss. */
const linesOf = ({ sections }: Briefing, name: string): string[] =>
  (sections.find((section) => section.name === name)?.text ?? '')
    .replace(notIncluded, '')
    .split('\n')
    .filter((line) => !/^- \d+ more: section /.test(line));

test('a larger budget never shows less', () => {
  fc.assert(
    fc.property(source, cap, fc.nat(3000), fc.nat(3000), (from, most, tokens, characters) => {
      const larger: Cap = {
        ...(most.tokens === undefined ? {} : { tokens: most.tokens + tokens }),
        ...(most.characters === undefined ? {} : { characters: most.characters + characters }),
      };
      const [small, large] = [compileBriefing(from, most), compileBriefing(from, larger)];
      expect(large.sections.map(({ name }) => name)).toEqual(small.sections.map(({ name }) => name));
      for (const [index, { name, shown }] of small.sections.entries()) {
        expect(large.sections[index]?.shown).toBeGreaterThanOrEqual(shown);
        if (name === 'artifacts' || name === 'run') continue;
        expect(linesOf(large, name)).toEqual(expect.arrayContaining(linesOf(small, name)));
      }
      expect(large.inlined).toEqual(expect.arrayContaining(small.inlined));
    }),
    runs,
  );
});

test('what does not fit is pointed at, never cut in silence', () => {
  fc.assert(
    fc.property(source, cap, (from, most) => {
      for (const { shown, total, text, ask } of compileBriefing(from, most).sections) {
        const pointer = `- ${total - shown} more: section ${ask}`;
        expect(text.split('\n').includes(pointer)).toBe(shown < total);
      }
    }),
    runs,
  );
});

const listed = ['differences', 'done', 'reading', 'reminders', 'variables', 'questions', 'tasks', 'kept'];
/** Written apart from the compiler's own list of titles. */
const heading = /^[#*_\s]*[A-Z][A-Z ]{2,}[A-Z][:#*_\s]*$/;
const fenced = /^\S.*(?:not instructions|skill's text):\n(`{3,})\n[\s\S]*?\n\1$/gm;

test('nothing that a file, an agent or another machine wrote passes for a heading or for more than its item', () => {
  fc.assert(
    fc.property(source, cap, (from, most) => {
      const { sections, text, inlined } = compileBriefing(from, most);
      const titles: string[] = sections.map(({ title }) => title);
      const ours = new Set([...titles, 'RUN', 'ACTION REQUIRED', 'DONE', 'TASKS', 'ENVIRONMENT CHANGES']);
      const forgedIn = (part: string): string[] =>
        part.split(/[\n\u2028\u2029]/).filter((each) => {
          return heading.test(each) && ours.has(each.replaceAll(/[:#*_]/g, '').trim());
        });
      for (const { name, text: part, shown, total } of sections) {
        const open = name === 'artifacts' ? part.replaceAll(fenced, '') : part;
        expect(forgedIn(open)).toEqual([]);
        if (listed.includes(name)) {
          expect(part.split('\n')).toHaveLength(shown + Number(shown < total));
          for (const each of part.split('\n')) expect(each).toMatch(/^- /);
        }
        if (name === 'artifacts') {
          expect(part.match(fenced) ?? []).toHaveLength(inlined.length);
          for (const each of open.split('\n')) expect(each).toMatch(/^(- |$)/);
        }
      }
      const [run] = sections;
      for (const each of run?.text.split('\n') ?? [])
        expect(each).toMatch(
          /^(Briefing b-|Status: |Handle: |Task files: |Path of the task files: |This position )/,
        );
      expect(text.startsWith('RUN\nBriefing b-')).toBe(true);
    }),
    runs,
  );
});
