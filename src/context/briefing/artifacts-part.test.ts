import { describe, expect, it } from 'vitest';
import { begin, building, feature, loaded, sourceOf, standard } from '../../../test/kit/briefing.ts';
import { Run } from '../../../test/kit/run.ts';
import { estimateTokens } from '../../machine/index.ts';
import type { Artifact, ArtifactContent } from '../artifacts/artifact.ts';
import { artifactsText } from './artifacts-text.ts';
import { briefingSection } from './briefing-section.ts';
import { compileBriefing } from './compile-briefing.ts';

const more = 'workflow_context, section {section}';
const words = (count: number): string => 'word '.repeat(count);
const artifact = (id: string, content: ArtifactContent, parts: Partial<Artifact> = {}): Artifact => ({
  ...loaded(id, ''),
  description: id,
  ...parts,
  content,
});
const why = `'docs/x.md' of 'x' does not exist: write it, or have the workflow name another path.`;
const linesOf = (...artifacts: Artifact[]): string[] =>
  artifactsText(artifacts, more, { tokens: 15_000 }).text.split('\n').slice(1);

describe('splitting the budget', () => {
  /** Far more outputs than a briefing shows at first. */
  function busy(): Run {
    const run = new Run(feature, { start: false });
    run.send({ type: 'start', run: 'feature-1-abcd', session: 'A', inputs: { issue: '#1' } });
    return run;
  }
  it('an artifact that is too long leaves its room to the other parts', () => {
    const run = busy();
    const output = { at: '', now: 0, receipts: [] };
    const outputs = Object.fromEntries(
      Array.from({ length: 26 }, (_, at) => [
        `build.t${at}.implement`,
        { ...output, text: `Made part ${at}.` },
      ]),
    );
    const source = { ...sourceOf(run), state: { ...run.state, outputs } };
    const plain = compileBriefing(source, standard);
    const guide = compileBriefing({ ...source, artifacts: [loaded('guide', words(1700))] }, standard);
    for (const { sections } of [plain, guide])
      expect(sections.find(({ name }) => name === 'done')).toMatchObject({ shown: 26, total: 26 });
    expect(guide.inlined).toEqual([]);
    expect(guide.listed).toEqual(['guide']);
  });
  it('artifacts that need an action come first', () => {
    const ids = linesOf(
      artifact('git', { state: 'kept', source: 'git', since: 0 }),
      artifact('run', { state: 'command', command: '/a', done: true }),
      artifact('unclear', { state: 'unclear', why }),
      artifact('missing', { state: 'missing', why }),
      artifact('ticket', { state: 'command', command: '/b', done: false }),
      artifact('refused', { state: 'refused', why }),
      artifact('none', { state: 'not_needed' }),
    ).map((line) => /^- ([a-z]+)/.exec(line)?.[1]);
    expect(ids).toEqual(['unclear', 'missing', 'ticket', 'refused', 'git', 'run']);
  });
  it('the pointer counts the artifacts that are not shown, and listed names the others', () => {
    const about = 'What is to be built, and for whom, and why. '.repeat(5);
    const many = Array.from({ length: 30 }, (_, at) => loaded(`a${at}`, `${at}`, { description: about }));
    for (const tokens of [300, 700, 1500, 3000]) {
      const { text, inlined, listed } = artifactsText(many, more, { tokens });
      const [, left = '0'] = /^- (\d+) more: section artifacts$/m.exec(text) ?? [];
      expect(listed).toHaveLength(30 - Number(left));
      for (const { id } of many) {
        expect(new RegExp(`^(- )?${id} \\(`, 'm').test(text)).toBe(listed.includes(id));
        expect(new RegExp(`^${id} \\(`, 'm').test(text)).toBe(inlined.includes(id));
      }
      expect(estimateTokens(text)).toBeLessThanOrEqual(tokens);
    }
  });
  it('the section on demand includes full texts and reports which', () => {
    const artifacts = [
      loaded('small', words(30)),
      loaded('large', words(9000)),
      loaded('huge', words(20_000)),
    ];
    const source = sourceOf(begin(), { artifacts });
    const { text, inlined, listed } = artifactsText(artifacts, more, { tokens: 25_000 });
    expect(briefingSection(source, 'artifacts')).toBe(text);
    expect(inlined).toEqual(['small', 'large']);
    expect(listed).toEqual(['small', 'large', 'huge']);
    expect(text).toContain(words(9000).trim());
    expect(text).toMatch(/\n.*read the named files for the rest\.$/);
    expect(text).not.toContain('section artifacts');
    expect(estimateTokens(text)).toBeLessThanOrEqual(25_000);
    expect(briefingSection(source, 'artifacts', { artifacts: ['small'] })).not.toContain('for the rest');
  });
});

describe('artifact lines', () => {
  it('only a required artifact comes with advice', () => {
    const content: ArtifactContent = { state: 'missing', source: '@docs/x.md', why };
    expect(linesOf(artifact('x', content, { required: false }))).toEqual([
      '- x, @docs/x.md, missing, not required',
    ]);
    expect(linesOf(artifact('x', content))).toEqual([`- x (required), missing: ${why}`]);
    const unclear: ArtifactContent = {
      state: 'unclear',
      why: 'The condition of x cannot be evaluated: no such method',
    };
    expect(linesOf(artifact('x', unclear))).toEqual([`- x (required), unclear: ${unclear.why}`]);
  });
  it('a slash command line asks for the note, and afterwards says that it was loaded', () => {
    const ticket = (done: boolean): Artifact =>
      artifact('ticket', { state: 'command', command: '/issue 42', done }, { required: false });
    expect(linesOf(ticket(false))).toEqual([
      '- ticket, run the slash command /issue 42, then note it (kind reading, key ticket)',
    ]);
    expect(linesOf(ticket(true))).toEqual([
      '- ticket, loaded by the slash command /issue 42; run it to reload',
    ]);
  });
  it('an artifact that the session already has shows when it was given', () => {
    const since = Date.UTC(2026, 10, 14, 7, 29);
    expect(linesOf(artifact('x', { state: 'kept', source: '@docs/x.md', since }))).toEqual([
      '- x (required), @docs/x.md, given to this session at 07:29 UTC; force resends it',
    ]);
  });
  it('a skill is not labeled as data', () => {
    const { text } = artifactsText([loaded('fmt', 'Use tabs.', { type: 'skill' })], more, { tokens: 1500 });
    expect(text).toContain('Skill text:\n```\nUse tabs.\n```');
    expect(text).not.toContain('not instructions');
  });
});

it('environment changes come before DONE, and the status section shows them in full', () => {
  const differences = ['The commit is e70ca57, not d03c41f.', `Untrusted: ${words(300)}`];
  const source = sourceOf(building(), { differences });
  const { text, sections } = compileBriefing(source, standard);
  expect(text).toMatch(
    /\n\nENVIRONMENT CHANGES\n- The commit is e70ca57, not d03c41f\.\n- Untrusted: .*…\n\nDONE\n/,
  );
  expect(sections.find(({ name }) => name === 'differences')).toMatchObject({ shown: 2, ask: 'status' });
  expect(briefingSection(source, 'status')).toContain(`- Untrusted: ${words(300).trim()}`);
});
