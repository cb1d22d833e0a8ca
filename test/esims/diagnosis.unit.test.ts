// What is wrong with an eSIM, over the stages of the supplier's two state fields and their possible
// contradictions.
import { describe, expect, test } from 'vitest';
import {
  diagnose,
  DIAGNOSIS_CODES,
  installStateOf,
  USAGE_LAG_MS,
  type DiagnosisCode,
  type DiagnosisFacts,
  type InstallState,
} from '../../src/esims/diagnosis.ts';
import { ESIM_STATUSES } from '../../src/domain/states.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const before = (ms: number): Date => new Date(NOW.getTime() - ms);
const HOUR = 3_600_000;

const NEW: DiagnosisFacts = {
  status: 'CREATED',
  smdpStatus: 'RELEASED',
  usedBytes: 0n,
  totalBytes: 1_000n,
  activateTime: null,
  expiredTime: new Date('2026-12-01T00:00:00Z'),
  asOf: before(60_000),
};
const IN_USE: DiagnosisFacts = {
  ...NEW,
  status: 'ACTIVE',
  smdpStatus: 'ENABLED',
  activateTime: before(5 * HOUR),
};
const of = (changes: Partial<DiagnosisFacts>, from = NEW): DiagnosisFacts => ({ ...from, ...changes });

/** The stages of the supplier's reference first, then contradictory combinations. */
const CASES: readonly (readonly [string, DiagnosisFacts, DiagnosisCode, InstallState])[] = [
  [
    'ordered, no profile yet',
    of({ status: 'PENDING', smdpStatus: '', asOf: null }),
    'NOT_DELIVERED',
    'NOT_DELIVERED',
  ],
  ['never delivered', of({ status: 'FAILED', smdpStatus: '', asOf: null }), 'DELIVERY_FAILED', 'ENDED'],
  ['new', NEW, 'NOT_SCANNED', 'READY'],
  ['installing: download', of({ smdpStatus: 'DOWNLOAD' }), 'DOWNLOAD_INTERRUPTED', 'READY'],
  ['installing: installed', of({ smdpStatus: 'INSTALLATION' }), 'SWITCHED_OFF', 'INSTALLED'],
  ['installed, not connected, GOT_RESOURCE', of({ smdpStatus: 'ENABLED' }), 'NOT_CONNECTED', 'INSTALLED'],
  [
    'installed, IN_USE, a moment ago',
    of({ activateTime: before(HOUR) }, IN_USE),
    'NO_USAGE_YET',
    'INSTALLED',
  ],
  ['installed, IN_USE, for long', IN_USE, 'ROAMING_LIKELY_OFF', 'INSTALLED'],
  ['in use', of({ usedBytes: 1n }, IN_USE), 'WORKING', 'INSTALLED'],
  [
    'in use, switched off',
    of({ usedBytes: 1n, smdpStatus: 'DISABLED' }, IN_USE),
    'SWITCHED_OFF',
    'INSTALLED',
  ],
  ['depleted', of({ usedBytes: 1_000n }, IN_USE), 'USED_UP', 'INSTALLED'],
  [
    'depleted, switched off',
    of({ usedBytes: 1_000n, smdpStatus: 'DISABLED' }, IN_USE),
    'USED_UP',
    'INSTALLED',
  ],
  ['ended', of({ status: 'EXPIRED', smdpStatus: 'DISABLED' }, IN_USE), 'EXPIRED', 'ENDED'],
  ['ended and deleted', of({ status: 'EXPIRED', smdpStatus: 'DELETED' }, IN_USE), 'EXPIRED', 'ENDED'],
  ['never used', of({ status: 'EXPIRED' }), 'EXPIRED', 'ENDED'],
  ['cancelled', of({ status: 'CANCELLED' }), 'CANCELLED', 'ENDED'],
  ['returned', of({ status: 'CANCELLED', isReturned: true }), 'RETURNED', 'ENDED'],
  ['replaced', of({ smdpStatus: 'DELETED', isReplaced: true }), 'REPLACED', 'ENDED'],
  ['deleted in use', of({ smdpStatus: 'DELETED', usedBytes: 1n }, IN_USE), 'DELETED', 'ENDED'],
  ['deleted and used up', of({ smdpStatus: 'DELETED', usedBytes: 1_000n }, IN_USE), 'DELETED', 'ENDED'],
  ['suspended before it was installed', of({ status: 'SUSPENDED' }), 'SUSPENDED', 'READY'],
  ['suspended on a device', of({ status: 'SUSPENDED', smdpStatus: 'DISABLED' }), 'SUSPENDED', 'INSTALLED'],
  ['suspended after use', of({ status: 'SUSPENDED', usedBytes: 1n }), 'SUSPENDED', 'INSTALLED'],
  ['suspended and deleted', of({ status: 'SUSPENDED', smdpStatus: 'DELETED' }), 'DELETED', 'ENDED'],
  ['expired by time, not yet by the supplier', of({ expiredTime: NOW }, IN_USE), 'EXPIRED', 'ENDED'],
  [
    'not expired yet',
    of({ expiredTime: new Date(NOW.getTime() + 1) }, IN_USE),
    'ROAMING_LIKELY_OFF',
    'INSTALLED',
  ],
  [
    'in use, profile state behind',
    of({ smdpStatus: 'RELEASED', usedBytes: 1n }, IN_USE),
    'WORKING',
    'INSTALLED',
  ],
  ['used, status behind', of({ usedBytes: 1n }), 'WORKING', 'INSTALLED'],
  ['used while downloading', of({ smdpStatus: 'DOWNLOAD', usedBytes: 1n }), 'WORKING', 'INSTALLED'],
  ['a profile state never seen', of({ smdpStatus: 'PARKED' }), 'NOT_SCANNED', 'READY'],
  ['no profile state', of({ smdpStatus: '' }), 'NOT_SCANNED', 'READY'],
  ['no allowance known', of({ totalBytes: 0n }, IN_USE), 'ROAMING_LIKELY_OFF', 'INSTALLED'],
  ['active without a time', of({ activateTime: null }, IN_USE), 'NO_USAGE_YET', 'INSTALLED'],
  ['active, facts of unknown age', of({ asOf: null }, IN_USE), 'NO_USAGE_YET', 'INSTALLED'],
  ['active without an end', of({ expiredTime: null, usedBytes: 5n }, IN_USE), 'WORKING', 'INSTALLED'],
];

test.each(CASES)('%s', (_stage, facts, code, state) => {
  expect([diagnose(facts, NOW), installStateOf(facts, code)]).toEqual([code, state]);
});

test('every code of the diagnosis has a case here', () => {
  expect(new Set(CASES.map(([, , code]) => code))).toEqual(new Set(DIAGNOSIS_CODES));
});

describe('no usage', () => {
  test.each([
    [USAGE_LAG_MS - 1, 'NO_USAGE_YET'],
    [USAGE_LAG_MS, 'ROAMING_LIKELY_OFF'],
  ] as const)('%i ms after activation: %s', (ms, code) => {
    expect(diagnose(of({ asOf: NOW, activateTime: before(ms) }, IN_USE), NOW)).toBe(code);
  });

  test('is counted up to when the facts were read, not up to now', () => {
    const facts = of({ activateTime: before(10 * HOUR), asOf: before(9 * HOUR) }, IN_USE);
    expect(diagnose(facts, NOW)).toBe('NO_USAGE_YET');
  });
});

test('does not decide it: an install code is shown only while nothing says that it was used', () => {
  const smdp = ['', 'RELEASED', 'DOWNLOAD', 'INSTALLATION', 'ENABLED', 'DISABLED', 'DELETED', 'PARKED'];
  for (const status of ESIM_STATUSES)
    for (const smdpStatus of smdp)
      for (const usedBytes of [0n, 1n, 1_000n])
        for (const activateTime of [null, before(HOUR)]) {
          const facts = of({ status, smdpStatus, usedBytes, activateTime });
          if (installStateOf(facts, diagnose(facts, NOW)) !== 'READY') continue;
          expect(['CREATED', 'SUSPENDED']).toContain(status);
          expect(['', 'RELEASED', 'DOWNLOAD', 'PARKED']).toContain(smdpStatus);
          expect(usedBytes).toBe(0n);
        }
});
