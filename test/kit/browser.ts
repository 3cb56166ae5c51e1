import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this system; undefined if there is none. */
export const browserProgram: string | undefined = programs.find((path) => existsSync(path));

/** A browser without a screen that reaches nothing but this machine. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(browserProgram === undefined ? {} : { executablePath: browserProgram }),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
  });
