import type { Block } from '../model/request.ts';

/** A line of the host's stream; only what tests look at is named. */
export interface StreamEvent {
  type: string;
  subtype?: string;
  session_id?: string;
  message?: { role: string; content: string | Block[] };
  parent_tool_use_id?: string | null;
  compact_metadata?: { trigger: 'manual' | 'auto'; pre_tokens: number; post_tokens?: number };
  tasks?: unknown[];
  mcp_servers?: { name: string; status: string }[];
  tools?: string[];
  /** Of a result. */
  result?: string;
  is_error?: boolean;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  queued_turn_count?: number;
  origin?: { kind: string };
}

export function answers(event: StreamEvent, prompt: string): boolean {
  if (event.type !== 'result') return false;
  return event.user_message_uuid === prompt || (event.user_message_uuids ?? []).includes(prompt);
}
