import { useCommandName } from '../../command-name.ts';
import { bundledWorkflows } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { dashboardFiles } from '../ui/dashboard-files.ts';
import { version } from '../version.ts';
import { loadPostgres, withDatabase } from './database.ts';
import { listenError } from './listen-error.ts';
import { options, type ServeSettings, settingsFrom } from './serve-options.ts';

export { options };

export async function run(args: readonly string[], io: Io): Promise<number> {
  // Answers go to other machines, where this program's own path means nothing.
  useCommandName(() => 'stepfast');
  const { values } = readArgs(args, options, { max: 0 });
  const settings = settingsFrom(values, io);
  if (settings.migrate) await (await import('./migrate.ts')).migrateAll(settings.url);
  const server = await start(settings, io);
  io.stderr.write(`Listening on ${server.url} (press Ctrl-C to stop)\n`);
  if (server.metricsUrl !== undefined) io.stderr.write(`Metrics on ${server.metricsUrl}\n`);
  await new Promise<void>((resolve) => {
    const stopListening = onSignal(io, () => {
      stopListening();
      resolve();
    });
  });
  io.stderr.write('Shutting down: finishing in-flight requests\n');
  // A second signal exits immediately.
  const stopListening = onSignal(io, () => process.exit(exit.internal));
  // Work that is still running by then, such as a delivery or a query, survives as it would survive a crash.
  setTimeout(() => process.exit(exit.ok), shutdownMs).unref();
  await server.close();
  stopListening();
  return exit.ok;
}

const shutdownMs = 3500;

interface RunningServer {
  url: string;
  metricsUrl: string | undefined;
  close(): Promise<void>;
}

async function start(settings: ServeSettings, io: Io): Promise<RunningServer> {
  const [server, { openBackend }, { createMcpTools }, { createJobs }] = await Promise.all([
    import('../../server/index.ts'),
    import('./backend.ts'),
    import('./mcp-tools.ts'),
    import('../../jobs/index.ts'),
  ]);
  const { url, host, port, connections, perSecond, metrics: metricsAt } = settings;
  const log = server.createLog({ level: settings.logLevel });
  const warn = (err: unknown): void => log.warn({ err }, 'database connection lost');
  const limits = {
    ...server.defaultLimits,
    // Some connections are left for other projects.
    atOncePerProject: Math.ceil((connections * 3) / 4),
    ...(perSecond === undefined ? {} : { perSecond, burst: 2 * perSecond }),
  };
  const backend = await openBackend({ url, connections, quotas: settings.quotas, onError: warn });
  try {
    await withDatabase(async () => {
      await (await loadPostgres()).refuseTransactionPooler(url);
      await backend.ready();
    });
    // No request waits for it.
    bundledWorkflows();
    const publicUrl = settings.publicUrl ?? new URL(`http://localhost:${port}`);
    const issuer = settings.issuerFor(publicUrl);
    // Filled in once the port is known.
    const hosts = { hosts: new Set<string>(), origins: new Set<string>() };
    const metrics = server.createMetrics({ backend });
    const app = server.createApp({
      backend,
      mcp: await createMcpTools({
        backend,
        version: version(),
        clock: io.now,
        onError: (err) => log.error({ err }, 'MCP tool failed'),
      }),
      auth: { publicUrl, issuer },
      hosts,
      limits,
      log,
      metrics,
      version: version(),
      clock: io.now,
      proxies: settings.proxies,
      asset: dashboardFiles(),
    });
    const jobs = createJobs({
      url,
      publicUrl: publicUrl.origin,
      onWake: (listener) => backend.onWake((wake) => wake === 'runs' && listener()),
      log,
      allow: settings.webhookTargets,
      retentionMonths: settings.retentionMonths,
    });
    if (settings.jobs) {
      await jobs.start();
      metrics.watchJobs({ report: jobs.health, backlog: jobs.backlog });
    }
    const metricsServer =
      metricsAt &&
      (await server.serveMetrics(metrics, metricsAt).catch(async (error: unknown) => {
        await jobs.stop();
        throw listenError(error, metricsAt, '--metrics-port');
      }));
    const listening = await server
      .listen(app, { host, port, limits, onStalled: metrics.stalled })
      .catch(async (error: unknown) => {
        await Promise.all([jobs.stop(), metricsServer?.close()]);
        throw listenError(error, { host, port }, '--port');
      });
    const { allowedHosts, allowedOrigins } = settings;
    const rules = server.hostRules({ publicUrl, host, port: listening.port, allowedHosts, allowedOrigins });
    for (const each of rules.hosts) hosts.hosts.add(each);
    for (const each of rules.origins) hosts.origins.add(each);
    const address = urlOf(host, listening.port);
    const metricsUrl = metricsServer && `${urlOf(metricsAt.host, metricsServer.port)}/metrics`;
    log.info({ url: address, metrics: metricsUrl, version: version() }, 'listening');
    return {
      url: address,
      metricsUrl,
      async close() {
        await Promise.all([listening.close(), jobs.stop()]);
        await Promise.all([backend.close(), metricsServer?.close()]);
        log.info('stopped');
        await new Promise<void>((resolve) => log.flush(() => resolve()));
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Handles SIGINT and SIGTERM. Returns an unsubscribe function. */
function onSignal(io: Io, listener: () => void): () => void {
  const stopListening = io.onInterrupt(listener);
  process.on('SIGTERM', listener);
  return () => {
    stopListening();
    process.off('SIGTERM', listener);
  };
}
