import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this system; undefined if there is none. */
export const browserProgram: string | undefined = programs.find((path) => existsSync(path));

/** Whether a dashboard of files can be opened: its links appear in a terminal. */
export const canOpenDashboard = browserProgram !== undefined && spawnSync('tmux', ['-V']).status === 0;

/** A browser without a screen that reaches nothing but this machine. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(browserProgram === undefined ? {} : { executablePath: browserProgram }),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
  });

let shared: Promise<Browser> | undefined;

/** The same browser for all test files of a worker, which it ends with. Each page has its own context. */
export const sharedBrowser = (): Promise<Browser> => {
  shared ??= openBrowser();
  return shared;
};
