import { expect, test } from 'vitest';
import { createEventReader, parseLine } from './stream.ts';
import { denialsIn, failureIn, spentAfter } from './turn-end.ts';

/** Lines of Claude Code 2.1.325, without the parts that nothing reads. */
const recorded = {
  bash: '{"type":"assistant","message":{"id":"msg_1","role":"assistant","model":"claude-opus-5-5","content":[{"id":"toolu_1","type":"tool_use","name":"Bash","input":{"command":"touch b.txt\\necho x","description":"d"}}],"usage":{"input_tokens":13129,"output_tokens":1}},"parent_tool_use_id":null}',
  bashResult:
    '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Denied.","is_error":true,"tool_use_id":"toolu_1"}]},"parent_tool_use_id":null}',
  subagent:
    '{"type":"assistant","message":{"id":"msg_3","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Inner."},{"id":"toolu_2","type":"tool_use","name":"Read","input":{"file_path":"/a.txt"}}]},"parent_tool_use_id":"toolu_0","agent_id":"a1"}',
  said: '{"type":"assistant","message":{"id":"msg_3","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null}',
  synthetic:
    '{"type":"assistant","message":{"id":"6c","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 500"}]},"parent_tool_use_id":null,"error":"server_error","is_api_error_message":true}',
  retry:
    '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":1000,"error_status":429,"error":"rate_limit"}',
  limit:
    '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794877401,"rateLimitType":"five_hour","isUsingOverage":false}}',
  allowed: '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","isUsingOverage":false}}',
  compacted:
    '{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":13149,"post_tokens":2830}}',
  result:
    '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.16,"usage":{"input_tokens":1,"output_tokens":2},"modelUsage":{"claude-opus-5-5":{"inputTokens":39716,"outputTokens":60,"cacheReadInputTokens":500,"cacheCreationInputTokens":7},"claude-haiku":{"inputTokens":1,"outputTokens":2}},"permission_denials":[{"tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{}}],"terminal_reason":"completed","result":"Done."}',
  interrupted:
    '{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","errors":["[ede_diagnostic]"],"modelUsage":{},"total_cost_usd":0}',
};

const nothing = { tokens: 0, cost: 0 };
const line = (text: string) => parseLine(text) ?? expect.unreachable(text);
const failing = (parts: object) =>
  failureIn(
    line(JSON.stringify({ type: 'result', subtype: 'success', is_error: true, ...parts })),
    undefined,
  );

test('a tool call begins and ends once, with one line for the screen', () => {
  const { read } = createEventReader();
  const [activity, opens] = read(line(recorded.bash));
  expect(activity).toEqual({ type: 'activity' });
  expect(opens).toEqual({ type: 'tool', id: 'toolu_1', name: 'Bash', open: true, detail: 'touch b.txt' });
  expect(read(line(recorded.bash))).toEqual([{ type: 'activity' }]);
  const closes = { type: 'tool', id: 'toolu_1', name: 'Bash', open: false };
  expect(read(line(recorded.bashResult))).toEqual([{ type: 'activity' }, closes]);
  expect(read(line(recorded.bashResult))).toEqual([{ type: 'activity' }]);
});

test('a result closes the calls of the conversation, an interrupt those of subagents too', () => {
  const { read } = createEventReader();
  read(line(recorded.bash));
  read(line(recorded.subagent));
  expect(read(line(recorded.result)).slice(1)).toEqual([
    { type: 'tool', id: 'toolu_1', name: 'Bash', open: false },
  ]);
  expect(read(line(recorded.interrupted)).slice(1)).toEqual([
    { type: 'tool', id: 'toolu_2', name: 'Read', open: false },
  ]);
});

test('only what the agent of the session says is text', () => {
  const { read } = createEventReader();
  const texts = [recorded.said, recorded.subagent, recorded.synthetic]
    .flatMap((each) => read(line(each)))
    .filter(({ type }) => type === 'text');
  expect(texts).toEqual([{ type: 'text', text: 'Done.' }]);
});

test('retries, compactions and the reset of a usage limit are reported', () => {
  const { read, resetAt } = createEventReader();
  const retry = { type: 'retry', status: 429, waitMs: 1000 };
  expect(read(line(recorded.retry))[1]).toEqual(retry);
  read(line(recorded.limit));
  expect(resetAt()).toBe(1_794_877_401_000);
  expect(read(line(recorded.retry))[1]).toEqual({ ...retry, resetAt: 1_794_877_401_000 });
  read(line(recorded.allowed));
  expect(resetAt()).toBeUndefined();
  expect(read(line(recorded.compacted))[1]).toEqual({ type: 'compacted', trigger: 'manual' });
});

test.each(['', 'npm warn', '{"type":', '[]', '"result"', '{"no":"type"}', 'null'])(
  '%j is no line of the stream',
  (text) => expect(parseLine(text)).toBeUndefined(),
);

test.each(['assistant', 'user', 'result', 'system', 'rate_limit_event'])(
  'a line %s with other parts than expected is only activity',
  (type) => {
    const parts = {
      message: 3,
      subtype: 'compact',
      rate_limit_info: [],
      permission_denials: {},
      modelUsage: 1,
    };
    const odd = line(JSON.stringify({ type, ...parts }));
    expect(createEventReader().read(odd)).toEqual([{ type: 'activity' }]);
    expect(spentAfter(odd, nothing)).toEqual(nothing);
    expect(denialsIn(odd)).toEqual([]);
  },
);

test('the spending is that of all models in this process, without what was read from the cache', () => {
  const usage = { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 500, cacheCreationInputTokens: 3 };
  const since = { opus: { ...usage, costUSD: 0.5 }, haiku: { ...usage, costUSD: 0.25 } };
  const resumed = { opus: { ...usage, inputTokens: 9_999, costUSD: 9 } };
  const result = { type: 'result', modelUsage: resumed, total_cost_usd: 9 };
  const one = spentAfter({ ...result, model_usage_since_last_result: since }, nothing);
  expect(one).toEqual({ tokens: 30, cost: 0.75 });
  expect(spentAfter({ ...result, model_usage_since_last_result: since }, one)).toEqual({
    tokens: 60,
    cost: 1.5,
  });
  expect(spentAfter({ ...result, model_usage_since_last_result: {} }, one)).toEqual(one);
  // Versions without it: all that there is.
  expect(spentAfter(result, one)).toEqual({ tokens: 10_004, cost: 9 });
});

test.each([
  [
    { api_error_status: 500, result: 'API Error: 500' },
    { kind: 'model_service', status: 500 },
  ],
  [
    { api_error_status: 429, result: 'Claude AI usage limit reached|1794873344' },
    { kind: 'model_service', status: 429, resetAt: 1_794_873_344_000 },
  ],
  [{ subtype: 'error_during_execution', errors: ['fetch failed'] }, { kind: 'model_service' }],
  [{ subtype: 'error_max_turns' }, { kind: 'limit' }],
  [{ subtype: 'error_max_budget_usd' }, { kind: 'limit' }],
  [{ api_error_status: 400, result: 'Prompt is too long' }, { kind: 'limit' }],
])('the failure in %j is %j', (parts, failure) => {
  const { text, ...found } = failing(parts) ?? expect.unreachable();
  expect(found).toEqual(failure);
  expect(text).not.toBe('');
});

test('a reset belongs to a usage limit, not to a server error that follows it', () => {
  const given = (status: number) =>
    failureIn(line(`{"type":"result","is_error":true,"api_error_status":${status},"result":"x"}`), 5);
  expect(given(429)).toMatchObject({ resetAt: 5 });
  expect(given(500)).not.toHaveProperty('resetAt');
});

test('neither a success nor an interrupt is a failure', () => {
  expect(failureIn(line(recorded.result), undefined)).toBeUndefined();
  expect(failureIn(line(recorded.interrupted), undefined)).toBeUndefined();
});
