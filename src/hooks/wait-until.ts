const pauseMs = 50;

/** Polls until the condition holds; false after the time limit. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; ; ) {
    if (await holds()) return true;
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
