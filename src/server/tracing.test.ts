import { propagation, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { traced } from './tracing.ts';

afterEach(() => {
  trace.disable();
  propagation.disable();
});

test("a request is a span named after its route below the caller's span", async () => {
  const spans: { name: string; above?: string; attributes: object; status?: number; ended: boolean }[] = [];
  // Stands in for an SDK.
  const tracer: Pick<Tracer, 'startSpan'> = {
    startSpan(name, _options, context) {
      const above = context && trace.getSpanContext(context)?.spanId;
      const noted: (typeof spans)[number] = {
        name,
        attributes: {},
        ended: false,
        ...(above ? { above } : {}),
      };
      spans.push(noted);
      const span: Partial<Span> = {
        updateName(other) {
          noted.name = other;
          return this as Span;
        },
        setAttributes(attributes) {
          noted.attributes = attributes;
          return this as Span;
        },
        setStatus({ code }) {
          noted.status = code;
          return this as Span;
        },
        end() {
          noted.ended = true;
        },
      };
      return span as Span;
    },
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as Tracer });
  propagation.setGlobalPropagator({
    inject: () => {},
    fields: () => ['traceparent'],
    extract(context, carrier, getter) {
      const [, traceId = '', spanId = ''] = String(getter.get(carrier, 'traceparent')).split('-');
      return trace.setSpanContext(context, { traceId, spanId, traceFlags: 1 });
    },
  });
  const request = new Request('http://x/v1/runs/secret', {
    headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  });
  await traced(request, 'GET', async (span) => span.end({ route: '/v1/runs/:run', status: 503 }));
  expect(spans).toEqual([
    {
      name: 'GET /v1/runs/:run',
      above: 'b7ad6b7169203331',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/v1/runs/:run',
        'http.response.status_code': 503,
      },
      status: SpanStatusCode.ERROR,
      ended: true,
    },
  ]);
});
