// Names of people and companies, which others compare by eye.
import { describe, expect, it } from 'vitest';
import { companyNameField, personNameField } from '../../src/accounts/http/shared.ts';

describe.each([
  ['a person', personNameField('Your name')],
  ['a company', companyNameField('The name of the company')],
])('the name of %s', (_whose, field) => {
  it.each(['Ada\u200B Ltd', 'Ada \u202Edtl', '\u2066Ada', 'Ada\u00AD', 'Ada\u3164', 'Ad\uFFFD'])(
    'is not %j',
    (name) => {
      const messages = field.safeParse(name).error?.issues.map(({ message }) => message);
      expect(messages).toEqual(['must not contain invisible or direction-changing characters, or U+FFFD']);
    },
  );

  it.each(['Ada Ltd', 'Réservation Anaïs', 'شركة السفر', '株式会社 旅', 'Ünal & Söhne'])(
    'may be %j',
    (name) => {
      expect(field.parse(name)).toBe(name);
    },
  );
});
