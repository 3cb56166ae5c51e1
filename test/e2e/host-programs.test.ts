import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { versionOfHost } from '../../scripts/install-hosts.ts';
import { createLab } from '../kit/lab.ts';

it.each(['claude', 'codex', 'copilot', 'gemini', 'opencode'] as const)(
  '%s starts as pinned, with a home of its own and no network',
  async (program) => {
    await using lab = await createLab(program);
    const { env, project } = lab;
    const printed = execFileSync(program, ['--version'], { cwd: project.root, env, encoding: 'utf8' });
    expect(printed).toContain(versionOfHost(program));
  },
  120_000,
);
