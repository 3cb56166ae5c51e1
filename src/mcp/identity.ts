/** The server's description of itself, the same in both protocol eras. */
export const serverInfo = (version: string) => ({ name: 'stepfast', title: 'Stepfast', version });

const all = { tools: {}, prompts: {}, resources: {} };

/** Where a server has resources, a host may add tools of its own that cost hundreds of tokens. */
export const capabilitiesFor = ({ toolsOnly }: { toolsOnly: boolean }): object =>
  toolsOnly ? { tools: all.tools } : all;

/** Hosts show it once; the tools' own descriptions repeat what matters. */
export const instructions =
  'Stepfast holds the position of a workflow run, runs its checks and remembers. Call workflow_start or workflow_status, do what `instructions` says, then workflow_advance with what was done. Every answer carries `at`: pass it on. `contextAction` asks for a fresh context first. A refusal says in `next` what to do instead.';
