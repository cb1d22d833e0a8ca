/** The supplier's facts with the parts of the activation code beside them. */
import { describe, expect, it } from 'vitest';
import { esimFactsOf } from '../../src/esims/rules.ts';
import { profileFacts } from '../support/facts.ts';

describe('esimFactsOf', () => {
  it('adds where the profile is and what it is called there', () => {
    const profile = profileFacts({ ac: 'LPA:1$rsp.example.com$MATCH-1' });
    expect(esimFactsOf(profile)).toEqual({
      ...profile,
      smdpAddress: 'rsp.example.com',
      matchingId: 'MATCH-1',
    });
  });

  it.each(['', 'https://rsp.example.com/x', 'LPA:1$rsp.example.com'])('leaves both empty for %j', (ac) => {
    expect(esimFactsOf(profileFacts({ ac }))).toMatchObject({ smdpAddress: '', matchingId: '' });
  });
});
