import type { AuditAction } from '../store/postgres/index.ts';
import type { Backend } from './backend.ts';
import type { Log } from './log.ts';
import type { Principal } from './principal.ts';

/** Records what the sender of a request did. Never throws: what was done is in the history of its run. */
export type Audit = (action: AuditAction) => Promise<void>;

interface Sender {
  principal: Principal;
  address: string;
  request: string;
}

/** Each entry is also a line of the log. */
export const createAuditor =
  ({ backend, log }: { backend: Pick<Backend, 'audit'>; log: Log }) =>
  ({ principal, address, request }: Sender): Audit =>
  async (action) => {
    const { project, kind, name, id: token } = principal;
    try {
      await backend.audit(project.id, action, { kind, name, token, address, request });
      log.info({ audit: action.action, subject: action.subject, project: project.name, token, request });
    } catch (err) {
      log.error({ err, audit: action.action, subject: action.subject, token, request }, 'audit failed');
    }
  };
