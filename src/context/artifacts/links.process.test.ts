import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { createArtifactProject, runId } from '../../../test/kit/artifact-project.ts';
import { createArtifactFiles } from './artifact-files.ts';

describe('links', () => {
  test('[004/8] a symbolic link out of the project is refused at any position of the path', async () => {
    using project = createArtifactProject({
      'docs/plan.md': 'inside',
      'docs/plan.json': '{}',
      '.env': 'inside',
      '.git/config': 'inside',
    });
    const { root, outside } = project;
    const link = (target: string, name: string): void => symlinkSync(target, join(root, name));
    mkdirSync(join(outside, 'sibling/docs'), { recursive: true });
    writeFileSync(join(outside, 'sibling/docs/plan.md'), project.canary);
    symlinkSync('outside/plan.md', join(root, '..', 'back'));
    mkdirSync(join(root, `.stepfast/runs/${runId}`), { recursive: true });
    writeFileSync(join(root, `.stepfast/runs/${runId}/state.json`), project.canary);
    link(join(outside, 'plan.md'), 'file.md');
    link('../outside/plan.md', 'relative.md');
    link(outside, 'folder');
    link('../outside/sibling', 'sibling');
    link('file.md', 'chain-1.md');
    link('chain-1.md', 'chain-2.md');
    link('folder/plan.md', 'through.md');
    link('../back', 'back.md');
    link('loop-b', 'loop-a');
    link('loop-a', 'loop-b');
    link('self', 'self');
    link('nowhere.md', 'dangling.md');
    link('/etc/passwd', 'passwd');
    link('/etc', 'etc');
    link(`/proc/self/root${outside}/plan.md`, 'proc.md');
    link(`/proc/${process.pid}/cwd`, 'cwd');
    link('/proc/self/environ', 'environ');
    link('/dev/zero', 'zero');
    link('.env', 'plain.md');
    link('.git', 'repository');
    link(`.stepfast/runs/${runId}/state.json`, 'state.json');
    link('..', 'up');
    const paths = [
      'file.md',
      'relative.md',
      'folder',
      'folder/plan.md',
      'sibling/docs/plan.md',
      'chain-1.md',
      'chain-2.md',
      'through.md',
      'back.md',
      'loop-a',
      'loop-a/x',
      'self',
      'dangling.md',
      'passwd',
      'etc',
      'etc/passwd',
      'proc.md',
      'cwd',
      'cwd/package.json',
      'environ',
      'zero',
      'plain.md',
      'repository/config',
      'state.json',
      'up/outside/plan.md',
      'up',
    ];
    for (const files of [createArtifactFiles(), createArtifactFiles('no such folder')]) {
      for (const type of ['markdown', 'json', 'directory', 'skill', 'work_plugin'] as const) {
        for (const path of paths) {
          // Names of secret files may be listed, so a link to such a file fails only because it is not a directory.
          const content = await project.content({ type, path }, { files });
          expect(content.state, `${type} ${path}`).toBe('refused');
          expect(JSON.stringify(content), path).not.toMatch(/canary|root:|inside"/);
        }
      }
    }
  });

  test('a link that stays inside the project is followed', async () => {
    using project = createArtifactProject({ 'packages/a/docs/plan.md': 'inside' });
    symlinkSync('packages/a/docs', join(project.root, 'docs'));
    symlinkSync('docs/plan.md', join(project.root, 'plan.md'));
    for (const path of ['docs/plan.md', 'plan.md']) {
      expect(await project.content({ path })).toMatchObject({
        state: 'loaded',
        source: `@${path}`,
        text: 'inside',
      });
    }
    expect(await project.content({ type: 'directory', path: 'docs' })).toMatchObject({
      text: 'plan.md  6 B',
    });
  });

  test('a hard link, a pipe, a socket and a device are refused without blocking', async () => {
    using project = createArtifactProject();
    linkSync(join(project.outside, 'plan.md'), join(project.root, 'hard.md'));
    execFileSync('mkfifo', [join(project.root, 'pipe.md')]);
    const server = createServer();
    await new Promise<void>((listening) => server.listen(join(project.root, 'socket.md'), listening));
    try {
      for (const path of ['hard.md', 'pipe.md', 'socket.md']) {
        const content = await project.content({ path });
        expect(content).toMatchObject({ state: 'refused', why: expect.stringMatching(/hard link|pipe/) });
        expect(JSON.stringify(content)).not.toContain(project.canary);
      }
    } finally {
      await new Promise((closed) => server.close(closed));
    }
  });

  test.each([
    ['the path of what was opened', undefined, 1_500],
    ['a second look', 'no such folder', 700],
  ])(
    '[004/8] a folder that is swapped for a link out of the project gives nothing: by %s',
    async (_, descriptors, ms) => {
      using project = createArtifactProject({
        'live/docs/plan.md': 'inside',
        'live/docs/plan.json': '"inside"',
      });
      const files = createArtifactFiles(descriptors);
      writeFileSync(join(project.outside, 'plan.json'), JSON.stringify(project.canary));
      const worker = new Worker(swapper, {
        eval: true,
        workerData: { at: join(project.root, 'live'), outside: project.outside },
      });
      await new Promise((ready) => worker.once('message', ready));
      const seen = { inside: 0, nothing: 0 };
      try {
        const place = { base: project.root, problem: () => undefined };
        // A busy machine takes longer to hit both cases.
        const end = performance.now() + ms;
        const unseen = (): boolean => seen.inside === 0 || seen.nothing === 0;
        while (performance.now() < end || (unseen() && performance.now() < end + 60_000)) {
          const content = await project.content({ path: 'live/docs/plan.md' }, { files });
          expect(JSON.stringify(content)).not.toContain(project.canary);
          seen[content.state === 'loaded' ? 'inside' : 'nothing']++;
          for (let i = 0; i < 5; i++) {
            const list = await files.list({ ...place, segments: ['live', 'docs'] }, 100);
            expect(JSON.stringify(list)).not.toContain(project.canary);
            const read = await files.read({ ...place, segments: ['live', 'docs', 'plan.json'] }, 100);
            if ('bytes' in read) expect(read.bytes.toString()).toBe('"inside"');
          }
        }
      } finally {
        await worker.terminate();
      }
      expect(seen.inside).toBeGreaterThan(0);
      expect(seen.nothing).toBeGreaterThan(0);
    },
  );
});

/** Swaps `docs` for a link out of the project and back, as fast as possible, with short pauses. */
const swapper = `
  const { parentPort, workerData: { at, outside } } = require('node:worker_threads');
  const { renameSync, symlinkSync } = require('node:fs');
  const rest = new Int32Array(new SharedArrayBuffer(4));
  symlinkSync(outside, at + '/link');
  parentPort.postMessage('ready');
  for (;;) {
    renameSync(at + '/docs', at + '/away');
    renameSync(at + '/link', at + '/docs');
    renameSync(at + '/docs', at + '/link');
    renameSync(at + '/away', at + '/docs');
    for (let i = 0; i < Math.random() * 20_000; i++);
    if (Math.random() < 0.1) Atomics.wait(rest, 0, 0, 4);
  }
`;
