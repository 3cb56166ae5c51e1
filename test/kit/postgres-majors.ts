import { type PostgresMajor, postgresBinaries } from '../../scripts/install-postgres.ts';
import { type Cluster, type ClusterOptions, startCluster } from './postgres.ts';

/** `undefined` is the version of the system. */
export type Major = PostgresMajor | undefined;

export const nameOf = (major: Major): string => `PostgreSQL ${major ?? 'of the system'}`;

/** Starts a cluster of this version; a string says why there is none on this machine. */
export async function startMajor(major: Major, options: ClusterOptions = {}): Promise<Cluster | string> {
  if (major === undefined) return await startCluster({ fsync: false, ...options });
  const bin = await postgresBinaries(major).catch((error: Error) => error);
  if (bin instanceof Error) return `not run: ${bin.message}`;
  return await startCluster({ fsync: false, bin, ...options });
}
