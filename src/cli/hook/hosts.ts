import { claudeCode } from '../../hosts/claude-code/index.ts';
import type { Host } from '../../runtime/index.ts';

export const hosts: readonly Host[] = [claudeCode];

export const hostNamed = (name: string | undefined): Host | undefined =>
  hosts.find((host) => host.name === name);
