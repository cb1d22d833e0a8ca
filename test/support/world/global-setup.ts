// Brings up the services once per test run and hands their addresses to every test file.
// They end with the run, however it ends: passed or failed here, Ctrl-C or killed by their watchdogs.
import type { TestProject } from 'vitest/node';
import { startTestServices } from './services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** postgres://… of an owner; use createTestDatabase() rather than this database. */
    databaseUrl: string;
    /** host:port; namespaces simway-test and simway-live are there. */
    temporalAddress: string;
    /** One Redis for all files: prefix your keys. */
    redisUrl: string;
    runId: string;
    /** The workflows, bundled once for all workers. */
    workflowBundle: string;
    /** Folder for compiled code of child processes; it goes with the run. */
    compileCache: string;
    /** The Temporal that docker-compose.yml deploys, instead of the development server. */
    deployedTemporal?: boolean;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { proveSize, deployedTemporal: deployed = false } = project.config.provide;
  // Proofs at full size have millions of rows.
  const services = await startTestServices({ inMemory: proveSize === undefined, deployed });
  project.provide('databaseUrl', services.databaseUrl);
  project.provide('temporalAddress', services.temporalAddress);
  project.provide('redisUrl', services.redisUrl);
  project.provide('runId', services.runId);
  project.provide('workflowBundle', services.workflowBundle);
  project.provide('compileCache', services.compileCache);
  return () => services.close();
}
