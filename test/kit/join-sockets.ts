import type { Socket } from 'node:net';

/** What one of them gets, the other one sends. */
export function joinSockets(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
}
