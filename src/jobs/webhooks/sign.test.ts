import { expect, test } from 'vitest';
import { newSecret, signedHeaders } from './sign.ts';

test('a message is signed as in the Standard Webhooks example', () => {
  const headers = signedHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a secret has 32 random bytes', () => {
  const secret = newSecret();
  expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
  expect(newSecret()).not.toBe(secret);
});
