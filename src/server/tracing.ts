import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

export interface Span {
  end(result: { route: string; status: number }): void;
}

const carrier = {
  get: (headers: Headers, key: string): string | undefined => headers.get(key) ?? undefined,
  keys: (headers: Headers): string[] => [...headers.keys()],
};

/** Runs the request in a server span below the caller's. A no-op without an OpenTelemetry SDK in the process. */
export async function traced(
  request: Request,
  method: string,
  work: (span: Span) => Promise<void>,
): Promise<void> {
  const tracer = trace.getTracer('stepfast');
  const parent = propagation.extract(context.active(), request.headers, carrier);
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, parent);
  const result = {
    end({ route, status }: { route: string; status: number }): void {
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
  await context.with(trace.setSpan(parent, span), () => work(result));
}
