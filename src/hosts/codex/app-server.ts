import { StepfastError } from '../../errors.ts';
import type { Environment } from '../../runtime/index.ts';
import { isPayload, numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { type HostProcess, startHost } from '../process.ts';
import { programName } from './program.ts';

/** `codex app-server`: JSON-RPC over lines, both ways. */
export interface AppServer {
  host: HostProcess;
  /** Rejects with `host_failed` where the server refuses, or has ended. */
  request(method: string, params: object): Promise<Payload>;
}

export interface AppServerOptions {
  args?: readonly string[];
  env: Environment;
  cwd: string;
  onNotification?(method: string, params: Payload): void;
  /** The answer to a request of the server. */
  onRequest?(method: string, params: Payload): object;
}

export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const { args = [], env, cwd, onNotification, onRequest } = options;
  const command = { program: programName, title: 'Codex', args: ['app-server', ...args], env, cwd };
  const host = await startHost(command);
  const open = new Map<number, { resolve(result: Payload): void; reject(error: StepfastError): void }>();
  let last = 0;

  host.onLine((line) => {
    const message = parse(line);
    if (!message) return;
    const method = textIn(message, 'method');
    const params = partIn(message, 'params') ?? {};
    if (method === undefined) return settle(message);
    if (message.id === undefined) return onNotification?.(method, params);
    const result = onRequest?.(method, params) ?? {};
    host.write({ id: message.id, result });
  });
  host.finished.then(() => {
    for (const { reject } of open.values()) reject(failed('Codex has ended.'));
    open.clear();
  });

  function settle(message: Payload): void {
    const id = Number(message.id);
    const waiting = open.get(id);
    open.delete(id);
    const error = partIn(message, 'error');
    if (error) waiting?.reject(failed(textIn(error, 'message') ?? JSON.stringify(error)));
    else waiting?.resolve(partIn(message, 'result') ?? {});
  }

  const request = async (method: string, params: object): Promise<Payload> => {
    if (host.isFinished()) throw failed('Codex has ended.');
    const id = ++last;
    const answer = new Promise<Payload>((resolve, reject) => open.set(id, { resolve, reject }));
    host.write({ id, method, params });
    return await answer;
  };

  try {
    const clientInfo = { name: 'stepfast', title: 'Stepfast', version: '0' };
    await request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
  } catch (error) {
    await host.end(0);
    throw error;
  }
  host.write({ method: 'initialized' });
  return { host, request };
}

const failed = (message: string): StepfastError => new StepfastError('host_failed', message);

function parse(line: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPayload(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export interface ListedHook {
  key: string;
  hash: string;
  plugin: string | undefined;
  trusted: boolean;
  /** Its number in the reports of what was started. */
  order: number | undefined;
  command: string;
}

/** The hooks that Codex knows in a folder. It skips those that nobody has trusted, and says nothing. */
export async function listHooks({ request }: AppServer, cwd: string): Promise<ListedHook[]> {
  const { data } = await request('hooks/list', { cwds: [cwd] });
  return (Array.isArray(data) ? data : [])
    .filter(isPayload)
    .flatMap(({ hooks }) => (Array.isArray(hooks) ? hooks : []))
    .filter(isPayload)
    .map((hook) => ({
      key: textIn(hook, 'key') ?? '',
      hash: textIn(hook, 'currentHash') ?? '',
      plugin: textIn(hook, 'pluginId'),
      trusted: hook.trustStatus === 'trusted' || hook.trustStatus === 'managed',
      order: numberIn(hook, 'displayOrder'),
      command: textIn(hook, 'command') ?? '',
    }));
}
