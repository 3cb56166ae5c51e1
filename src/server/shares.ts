import type { OutgoingMessage } from 'node:http';
import type { Limits, Share } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

/** Divides the server among tokens and projects, so that one of them cannot use it up. */
export interface Shares {
  /** Throws `too_many_requests`. Returns a function that gives the share back. */
  take(share: Share, principal: Principal, answer: OutgoingMessage | undefined): () => void;
  /** Throws `too_many_requests` if the readers of earlier answers do not read them. */
  checkUnread(principal: Principal): void;
}

export interface SharesOptions {
  limits: Limits;
  onRefused(why: Share | 'unread'): void;
}

interface Holder {
  taken: Record<Share, number>;
  /** Answers that are not sent in full. */
  answers: Set<OutgoingMessage>;
}

const names: Record<Share, string> = {
  requests: 'requests in flight',
  waits: 'waiting requests',
  streams: 'open streams',
};
const retryAfter: Record<Share, string> = { requests: '1', waits: '5', streams: '10' };

export function createShares({ limits, onRefused }: SharesOptions): Shares {
  const holders = new Map<string, Holder>();
  return { take, checkUnread };

  function take(share: Share, principal: Principal, answer: OutgoingMessage | undefined): () => void {
    const agents = principal.agents ?? limits.agents;
    const bounds = [
      { key: tokenKey(principal), of: 'this token', most: agents * limits.perAgent },
      { key: projectKey(principal), of: 'this project', most: limits.perProject[share] },
    ];
    for (const { key, of, most } of bounds) {
      if ((holders.get(key)?.taken[share] ?? 0) < most) continue;
      onRefused(share);
      throw problem('too_many_requests', `Too many ${names[share]} of ${of}: the limit is ${most}.`, {
        next: 'retry later, or end others first',
        headers: { 'Retry-After': retryAfter[share] },
      });
    }
    for (const { key } of bounds) {
      const holder = holders.get(key) ?? {
        taken: { requests: 0, waits: 0, streams: 0 },
        answers: new Set(),
      };
      holders.set(key, holder);
      holder.taken[share] += 1;
      if (answer) holder.answers.add(answer);
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      for (const { key } of bounds) giveBack(key, share, answer);
    };
  }

  function giveBack(key: string, share: Share, answer: OutgoingMessage | undefined): void {
    const holder = holders.get(key);
    if (!holder) return;
    holder.taken[share] -= 1;
    if (answer) holder.answers.delete(answer);
    const { requests, waits, streams } = holder.taken;
    if (requests + waits + streams === 0) holders.delete(key);
  }

  function checkUnread(principal: Principal): void {
    const { token, project } = limits.unreadBytes;
    if (unread(tokenKey(principal)) < token && unread(projectKey(principal)) < project) return;
    onRefused('unread');
    throw problem('too_many_requests', 'Earlier answers have not been read.', {
      next: 'read them, then send the same call again with the same key',
      headers: { 'Retry-After': '5' },
    });
  }

  function unread(key: string): number {
    let bytes = 0;
    for (const { writableLength } of holders.get(key)?.answers ?? []) bytes += writableLength;
    return bytes;
  }
}

const tokenKey = ({ project, id }: Principal): string => `${project.id} ${id}`;
const projectKey = ({ project }: Principal): string => String(project.id);
