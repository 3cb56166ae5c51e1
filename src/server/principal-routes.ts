import {
  type CredentialAnswer,
  credentialAnswerSchema,
  credentialBodySchema,
  personBodySchema,
  type TokenAnswer,
  tokenAnswerSchema,
  tokenBodySchema,
  type WhoamiAnswer,
  whoamiAnswerSchema,
} from '../schema/index.ts';
import { problem } from './problem.ts';
import { type Route, route } from './route.ts';

/** Who the caller is, and how it gets another token. */
export const principalRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/tokens',
    scope: 'gates',
    summary: 'Make a token for a session that a runner starts',
    body: tokenBodySchema,
    answer: tokenAnswerSchema,
    async handle({ body, principal, backend, audit }): Promise<TokenAnswer> {
      const { kind, project, name: by, id: parent } = principal;
      if (kind !== 'runner' || principal.issued)
        throw problem('forbidden', 'Only the token of a runner makes others.', {
          next: `ask for one: stepfast token create NAME --project ${project.name} --kind runner`,
        });
      const made = await backend.makeToken(project.id, parent, body);
      if (!made) throw problem('forbidden', 'This token has ended, or made too many others.');
      const name = `${by}/${body.name}`;
      await audit?.({ action: 'token.made', subject: made.id, details: { name, parent } });
      return { ...made, name };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/whoami',
    scope: 'any',
    summary: 'Get the identity and scopes of the token',
    answer: whoamiAnswerSchema,
    async handle({ principal: { project, kind, name, scopes } }): Promise<WhoamiAnswer> {
      return { project: project.name, kind, name, scopes: [...scopes] };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/people',
    scope: 'join',
    summary: 'With an invitation: set a passphrase and get a token for your agents',
    body: personBodySchema,
    answer: tokenAnswerSchema,
    async handle({ body, principal, people, audit }): Promise<TokenAnswer> {
      const joined = await people.join(principal, body.passphrase);
      await audit?.({ action: 'person.joined', subject: joined.name, details: { login: joined.id } });
      return joined;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/credentials',
    scope: 'any',
    summary: 'With your passphrase: get a token of a few minutes that decides',
    body: credentialBodySchema,
    answer: credentialAnswerSchema,
    async handle({ body, principal, people, audit }): Promise<CredentialAnswer> {
      const { token, expires, id } = await people.credential(principal, body.passphrase);
      await audit?.({ action: 'credential.made', subject: id });
      return { token, expires };
    },
  }),
];
