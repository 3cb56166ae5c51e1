import { spawn } from 'node:child_process';

/** Shows a page in the person's browser. False if there is no screen here. */
export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const { platform } = process;
  const hasScreen =
    platform !== 'linux' || env.DISPLAY !== undefined || env.WAYLAND_DISPLAY !== undefined || isWsl(env);
  if (!hasScreen || env.SSH_CONNECTION !== undefined) return false;
  const [program, ...args] =
    env.BROWSER !== undefined && env.BROWSER !== ''
      ? [env.BROWSER, url]
      : platform === 'darwin'
        ? ['open', url]
        : platform === 'win32'
          ? ['rundll32', 'url.dll,FileProtocolHandler', url]
          : ['xdg-open', url];
  if (program === undefined) return false;
  const child = spawn(program, args, { stdio: 'ignore', detached: true, env: { ...env } });
  // The link is printed as well.
  child.on('error', () => {});
  child.unref();
  return true;
}

const isWsl = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.WSL_DISTRO_NAME !== undefined;
