/**
 * Loaded into the SDK's workflow threads by workers.ts. The SDK calls into its sandbox some fifty times a purchase, each call with a time
 * limit of 5 s, and Node starts and joins a watchdog thread for each: 0.13 ms of processor time a call, 18 % of all that a purchase costs
 * (docs/decisions/0017). Our workflows have no loop without an await, so these calls go without. Touches nothing else of `node:vm`.
 */
import vm from 'node:vm';

const script = vm.Script.prototype as { runInContext: (this: vm.Script, ...given: RunArguments) => unknown };
type RunArguments = [context: vm.Context, options?: vm.RunningScriptOptions];
const { runInContext } = script;

script.runInContext = function (context, options) {
  return runInContext.call(this, context, { ...options, timeout: undefined });
};
