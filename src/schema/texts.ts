import * as z from 'zod';

/** The texts of a workflow file. */
export const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const id = z.string().regex(idPattern);
export const line = z.string().min(1).max(1000);
export const text = z.string().min(1).max(100_000);
