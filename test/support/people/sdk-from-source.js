// Loaded before a program that uses the SDK as a package: the package is this checkout's sources, which need
// no build.
import { registerHooks } from 'node:module';

const source = new URL('../../../packages/sdk/src/index.ts', import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === 'simway-sdk' ? { url: source, shortCircuit: true } : next(name, context),
});
