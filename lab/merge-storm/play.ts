import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DriverInput, Said } from './driver.ts';
import { judge, type Verdict } from './judge.ts';
import { createPerson } from './person.ts';
import type { Plan } from './plan.ts';
import { createStage } from './stage.ts';

export interface Played extends Verdict {
  plan: Plan;
  kills: number;
  wallMs: number;
  /** Where the repository is, if anything is wrong. */
  left?: string;
}

export interface Programs {
  cli: string;
  driver: string;
  agent: string;
}

/** More than any seed needs. */
const limitMs = 900_000;
/** A driver that says nothing for so long still waits. */
const stillMs = 5_000;

/** Drives the run of one seed to its end, or to where a person would have to do more than this one does. */
export async function play(plan: Plan, { cli, driver, agent }: Programs): Promise<Played> {
  const stage = await createStage(plan, cli);
  const { root, home, env, folder, run, branch, worktree, directory } = stage;
  const person = createPerson(plan, stage);
  const input: DriverInput = { plan, run, branch, root, worktree, home, env, folder, program: agent, cli };
  const file = join(directory, 'input.json');
  writeFileSync(file, JSON.stringify(input));
  const startedAt = Date.now();
  const merged = new Set<string>();
  const kills = [...plan.kills];
  const errors: unknown[] = [];
  let killed = 0;
  await person.after(0);
  for (let isOver = false; !isOver; ) isOver = await oneDriver();
  const wallMs = Date.now() - startedAt;
  const verdict = await judge(plan, stage, person);
  verdict.red.unshift(...errors.map(String));
  const isGood = verdict.lost.length + verdict.red.length + verdict.stranded.length === 0;
  if (isGood) stage.remove();
  return {
    ...verdict,
    plan,
    kills: killed,
    wallMs,
    ...(isGood ? {} : { left: directory }),
  };

  /** True if the run has ended, or waits for what nobody will do. */
  async function oneDriver(): Promise<boolean> {
    let isOver = false;
    let waits = false;
    let helped = false;
    let heard = 0;
    let stderr = '';
    const busy: Promise<unknown>[] = [];
    const process_ = spawn(process.execPath, [driver, file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    process_.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    createInterface({ input: process_.stdout }).on('line', (line) => hear(JSON.parse(line) as Said));
    const next = kills.shift();
    const killer = next === undefined ? undefined : setTimeout(kill, next);
    const late = setTimeout(() => {
      errors.push('the driver did not end in time');
      isOver = true;
      process_.kill('SIGKILL');
    }, limitMs);
    const [code] = await once(process_, 'close');
    clearTimeout(killer);
    clearTimeout(late);
    await Promise.all(busy).catch((error: unknown) => errors.push(error));
    if (code !== null && code !== 0) {
      errors.push(`the driver ended with ${code}: ${stderr.slice(0, 1500)}`);
      return true;
    }
    if (waits && !isOver) return !((await help()) || helped);
    return isOver;

    function kill(): void {
      killed += 1;
      process_.kill('SIGKILL');
    }

    function hear(said: Said): void {
      heard += 1;
      if (said.type === 'merged') merged.add(said.task);
      // What the person does comes in between.
      else if (said.type === 'merging') busy.push(person.after(merged.size));
      else if (said.type === 'held') busy.push(help());
      else if (said.type === 'waits') busy.push(lookAfter());
      else if (said.end === 'waits') waits = true;
      else isOver = said.end !== 'stopped';
    }

    async function help(): Promise<boolean> {
      const did = await person.help();
      helped ||= did;
      return did;
    }

    /** A driver that stays would wait for ever. */
    async function lookAfter(): Promise<void> {
      if (!plan.stays) return;
      const before = heard;
      if (await help()) {
        await new Promise((resolve) => setTimeout(resolve, stillMs));
        // Otherwise it was no help, and what waits says so once only.
        if (heard !== before || (await help())) return;
      }
      waits = true;
      process_.kill('SIGTERM');
    }
  }
}
