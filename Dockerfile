# The team server. Build: docker build -t stepfast .
# Run: docker run -p 7437:7437 -e STEPFAST_DATABASE_URL=postgres://… -e STEPFAST_PUBLIC_URL=https://… stepfast
# Every option of `stepfast serve` is an environment variable: STEPFAST_PORT, STEPFAST_METRICS_PORT, …
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY dashboard/package.json dashboard/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir /package && npm pack --pack-destination /package

FROM node:24-bookworm-slim
COPY --from=build /package/ /package/
RUN npm install --global --no-audit --no-fund /package/*.tgz && rm -r /package
ENV NODE_ENV=production STEPFAST_HOST=0.0.0.0 STEPFAST_PORT=7437
USER node
WORKDIR /home/node
EXPOSE 7437
HEALTHCHECK --interval=10s --timeout=3s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.STEPFAST_PORT || 7437}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["stepfast"]
CMD ["serve"]
