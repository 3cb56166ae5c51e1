import type { Host, HostSetup } from '../runtime/index.ts';
import { claudeCode, claudeCodeSetup } from './claude-code/index.ts';

/** Every host that Stepfast knows. */
export const hosts: readonly Host[] = [claudeCode];
export const hostSetups: readonly HostSetup[] = [claudeCodeSetup];

export const hostNamed = (name: string | undefined): Host | undefined =>
  hosts.find((host) => host.name === name);
