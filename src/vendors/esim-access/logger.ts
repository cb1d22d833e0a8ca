/** What this adapter says beside its answers: things that an operator must look at. A logger of src/platform/telemetry fits. */
export interface Logger {
  warn(fields: object, message: string): void;
}

export const silentLogger: Logger = { warn: () => undefined };
