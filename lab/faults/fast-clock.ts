/**
 * Preloaded by a server (`node --import`): its clock runs faster from a moment on, so that leases of half an hour expire
 * in seconds. Both servers are given the same moment, hence agree.
 */
const from = Number(process.env.FAULTS_CLOCK_FROM);
const rate = Number(process.env.FAULTS_CLOCK_RATE);
const now = Date.now.bind(Date);
if (rate > 1) Date.now = () => Math.round(from + (now() - from) * rate);
