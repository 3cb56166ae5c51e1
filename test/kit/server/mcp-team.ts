/** Teams and connections that close when the test has finished. */
import { onTestFinished } from 'vitest';
import { connect, createTeam, type HttpConnection, type Team } from './mcp-http.ts';

export function teamUp(options: Parameters<typeof createTeam>[0] = {}): Team {
  const team = createTeam(options);
  onTestFinished(team.close);
  return team;
}

export async function connected(...args: Parameters<typeof connect>): Promise<HttpConnection> {
  const connection = await connect(...args);
  onTestFinished(connection.close);
  return connection;
}
