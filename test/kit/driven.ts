/** Sessions of a pinned host as the driver opens them, with a scripted model. */
import { join } from 'node:path';
import { packageRoot } from '../../src/cli/index.ts';
import { hostNamed } from '../../src/hosts/index.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../src/runtime/index.ts';
import { claudeHost } from './claude-host.ts';
import type { DrivenHost, HostStage } from './host-stage.ts';

export interface DrivenProject extends HostStage {
  driver: HostDriver;
  events: HostEvent[];
  open(options?: Partial<DrivenOptions>): Promise<DrivenSession>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function createDrivenProject(
  files: Record<string, string> = {},
  host: DrivenHost = claudeHost,
): Promise<DrivenProject> {
  const stage = await host.prepare(files);
  const { project, model, env } = stage;
  const driver = await hostNamed(host.name)?.driver?.();
  if (!driver) throw new Error('There is no driver.');
  const events: HostEvent[] = [];
  const sessions: DrivenSession[] = [];
  return {
    ...stage,
    driver,
    events,
    open: async (options) => {
      const session = await driver.open({
        cwd: project.root,
        env,
        command: [process.execPath, join(packageRoot(), 'dist', 'cli.js')],
        plugin: packageRoot(),
        onEvent: (event) => events.push(event),
        ...options,
      });
      sessions.push(session);
      return session;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) await session.end(0);
      await model[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}
