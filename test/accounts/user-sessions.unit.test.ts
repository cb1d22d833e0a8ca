import { expect, it } from 'vitest';
import { cookieLine, cookieNames } from '../../src/accounts/users/sessions.ts';

it('cookies over https are bound to the host and Secure; on a local machine they are neither', () => {
  const line = (publicUrl: string) =>
    cookieLine({ name: cookieNames(publicUrl).session, value: 'v' }, publicUrl);
  expect(line('https://api.example.com')).toMatch(
    /^__Host-simway_session=v; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect(line('http://127.0.0.1:3000')).toMatch(
    /^simway_session=v; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
  );
});
