import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadWorkflowFile } from '../src/definition/index.ts';
import { defaultTiming } from '../src/driver/index.ts';
import { createTestFolder } from '../src/testing/index.ts';

const root = resolve(import.meta.dirname, '..');
const pages = ['docs/driver.md', 'examples/overnight/README.md'];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const page = read('docs/driver.md');

/** Of `sh` and `console` blocks and of code within a sentence, without comments. */
const commands = pages.flatMap((each) =>
  [...read(each).matchAll(/(?:^|`|npx )(?:\$ )?(stepfast [a-z][^`\n#]*)/gm)].map(([, text = '']) =>
    text.trim(),
  ),
);

test('every command of docs/driver.md and of the overnight example exists, with its options', async () => {
  using project = createTestFolder();
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    const [, name = ''] = command.split(' ');
    const { code, stdout } = await project.run([name, '--help']);
    expect([command, code]).toEqual([command, 0]);
    for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(stdout, command).toContain(option);
  }
});

test('the workflows of docs/driver.md load without errors and warnings', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'stepfast-driver-docs-'));
  try {
    const snippets = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
      .map(([, text = '']) => text)
      .filter((text) => !text.startsWith('on:'));
    expect(snippets).toHaveLength(3);
    for (const text of snippets) {
      const loops = /^loops:/m.test(text) ? '' : 'loops:\n  items: [{ id: do, instructions: Do it. }]\n';
      const steps = /^steps:/m.test(text) ? '' : 'steps:\n  - { id: items, type: loop }\n';
      const file = join(scratch, 'w.yaml');
      writeFileSync(file, `name: w\ndescription: x\n${text}${loops}${steps}`);
      expect(loadWorkflowFile(file, { places: [] }).diagnostics, text).toEqual([]);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('the clocks and bounds of docs/driver.md are those of the driver', () => {
  const { idleMs, idleInToolMs, graceMs, serviceMs, longestServiceMs } = defaultTiming;
  for (const said of [
    `${idleMs / 60_000} minutes; ${idleInToolMs / 60_000} while a tool call is open`,
    `within ${graceMs / 1000} seconds`,
    `${serviceMs / 1000} seconds, then twice as long each time, up to ${longestServiceMs / 60_000} minutes`,
    `${defaultTiming.bounds.turns} turns, or ${defaultTiming.bounds.ms / 3_600_000} hours`,
  ])
    expect(page).toContain(said);
});

test('links of docs/driver.md and of the overnight example lead somewhere', () => {
  for (const each of pages) {
    const links = [...read(each).matchAll(/(?:\]\(|src=")([^)#"]+)(?:#([^)"]+))?[)"]/g)];
    expect(links.length).toBeGreaterThan(2);
    for (const [, path = '', anchor] of links) {
      const file = join(root, dirname(each), path);
      expect(existsSync(file), `${each}: ${path}`).toBe(true);
      if (anchor === undefined) continue;
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(headings, `${each}: ${path}#${anchor}`).toContain(anchor);
    }
  }
});
