import * as z from 'zod';
import { facts, named, runId, sentCommandSchema, sentOpeningSchema } from './command.ts';
import type { Definition } from './definition.ts';
import { path, word } from './parts.ts';
import { principalKinds } from './principal.ts';

export const keySchema = z.string().min(1).max(512);

/** What a caller sends with a command. */
const circumstances = z.strictObject({
  /** Binds the command's session to the run with its first call. */
  facts: facts.optional(),
  /** Placeholders that only the caller knows, such as `project_root`. */
  values: named(path, 100).optional(),
  /** The gate run that a command with `runnerAlive` is about. */
  check: word.optional(),
});

/** For a caller that may retry a start: a run id that it chose, and a key. */
const once = z.strictObject({ run: runId, key: keySchema });

/**
 * `POST /v1/runs`. The server sets `now` and `actor` of a command. The actor in a body can only lower what a token
 * proves: an agent that works with a person's token sends `kind: 'agent'`, or no actor, and is an agent.
 */
export const beginBodySchema = <D extends z.ZodType<Definition>>(definition: D) =>
  z.strictObject({
    definition,
    command: sentOpeningSchema,
    circumstances: circumstances.optional(),
    once: once.optional(),
  });

/** `POST /v1/runs/:run/commands`. */
export const commandBodySchema = z.strictObject({
  command: sentCommandSchema,
  key: keySchema.optional(),
  circumstances: circumstances.optional(),
});

/** `GET /v1/runs?name=`. */
export const idsAnswerSchema = z.object({ ids: z.array(z.string()) });

/** `GET /v1/whoami`. */
export const whoamiAnswerSchema = z.object({
  project: z.string(),
  kind: z.enum(principalKinds),
  name: z.string(),
  scopes: z.array(z.string()),
});

/** `POST /v1/workflows`. */
export const publishBodySchema = <D extends z.ZodType>(definition: D) => z.strictObject({ definition });
export const publishAnswerSchema = z.object({ name: z.string(), hash: z.string(), digest: z.string() });

/** `POST /v1/tokens`. */
export const tokenBodySchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/),
  seconds: z.int().min(60).max(86_400),
});
export const tokenAnswerSchema = z.object({ id: z.string(), name: z.string(), token: z.string() });

/** Short ones are guessed: there are no other rules. */
export const minPassphrase = 12;
export const maxPassphrase = 200;
const passphrase = z.string().max(maxPassphrase);

/** `POST /v1/people`. */
export const personBodySchema = z.strictObject({ passphrase: passphrase.min(minPassphrase) });

/** `POST /v1/credentials`. */
export const credentialBodySchema = z.strictObject({ passphrase });
export const credentialAnswerSchema = z.object({
  token: z.string(),
  expires: z.number().describe('Milliseconds since the epoch.'),
});

/** `GET /v1/sign-in`: how a person gets a credential. */
export const signInAnswerSchema = z.object({
  issuer: z.string().optional(),
  client_id: z.string().optional(),
  scope: z.string().optional(),
});

/** `POST /sign-in`, of the dashboard. A name is missing where the browser is signed in already. */
export const browserSignInSchema = z.union([
  z.strictObject({ project: word, name: word, passphrase }),
  z.strictObject({ passphrase }),
  z.strictObject({ device: z.string().min(1).max(2048) }),
]);

export type SentCircumstances = z.infer<typeof circumstances>;
export type Once = z.infer<typeof once>;
export type BeginBody = z.infer<ReturnType<typeof beginBodySchema<z.ZodType<Definition>>>>;
export type CommandBody = z.infer<typeof commandBodySchema>;
export type IdsAnswer = z.infer<typeof idsAnswerSchema>;
export type PublishAnswer = z.infer<typeof publishAnswerSchema>;
export type TokenAnswer = z.infer<typeof tokenAnswerSchema>;
export type CredentialAnswer = z.infer<typeof credentialAnswerSchema>;
export type SignInAnswer = z.infer<typeof signInAnswerSchema>;
export type WhoamiAnswer = z.infer<typeof whoamiAnswerSchema>;
