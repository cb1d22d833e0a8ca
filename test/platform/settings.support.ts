// The settings that a service needs, and what is wrong with others.
import { expect } from 'vitest';
import { ConfigError, readConfig } from '../../src/app/config/config.ts';

type Given = Readonly<Record<string, string>>;

const NEEDED = {
  DATABASE_URL: 'postgres://127.0.0.1/simway',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  SIMWAY_ID_SECRET: 'a secret of at least 32 characters',
  SIMWAY_SECRETS_KEY: 'ab'.repeat(32),
  SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:9',
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'unused',
};

export const read = (given: Given = {}) => readConfig({ ...NEEDED, ...given });

/** What the start says is wrong; empty: nothing. */
export function problemOf(given: Given, readSettings: (env: Given) => unknown = read): string {
  try {
    readSettings(given);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return '';
}
