/** Signing in and out. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataOf, Refusal, type Ops } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import { addCommand, OperatorMistake } from '../../platform/command.ts';
import { print } from '../context.ts';
import { findInstallation, forgetToken, keepToken, readToken } from '../session.ts';
import { connectTo, toMistake, URL_OPTION, type FinanceGroup } from './group.ts';

const OPTIONS = z.object(URL_OPTION);

export function addLoginCommands({ cli, parent }: FinanceGroup): void {
  addCommand(parent, {
    syntax: 'login',
    summary: 'Signs in: you let this machine in at the dashboard',
    help: `Shows a code. Sign in at the dashboard, type the code there, and this machine may act as you: for 12 hours after you
signed in, or until 30 minutes without a command. Signing out at the dashboard does not end it; logout does.`,
    options: OPTIONS,
    run: async ({ url }) => {
      const installation = await findInstallation(cli, url);
      const ops = connectTo(installation.url);
      try {
        const body = { machine: hostname() };
        const asked = await dataOf(ops.POST('/ops/device-logins', { body }));
        print(cli, `Open ${asked.verificationUrl}\nand type the code ${asked.userCode}`);
        const { token, email, expiresAt } = await untilLetIn(ops, asked);
        await keepToken(installation, token);
        print(cli, `Signed in as ${email} until ${expiresAt}`);
      } catch (error) {
        throw error instanceof Refusal ? toMistake(error, installation.url) : error;
      }
    },
  });
  addCommand(parent, {
    syntax: 'logout',
    summary: 'Ends the session of this machine',
    options: OPTIONS,
    run: async ({ url }) => {
      const installation = await findInstallation(cli, url);
      const token = await readToken(installation);
      // Ended already, it is forgotten all the same.
      const isEnded = (error: unknown) => error instanceof Refusal && error.status === 401;
      await connectTo(installation.url, token)
        .DELETE('/ops/sessions/current')
        .catch((error: unknown) => {
          if (isEnded(error)) return;
          throw error instanceof Refusal ? toMistake(error, installation.url) : error;
        });
      await forgetToken(installation);
      print(cli, 'Signed out');
    },
  });
}

const NOT_LET_IN = 'The code was not approved in time, or was used: run the command again';

/** Polls at the interval that the service asks for. */
async function untilLetIn(
  ops: Ops,
  { deviceCode, intervalSeconds, expiresInSeconds }: components['schemas']['DeviceLogin']['data'],
) {
  const endsAtMs = performance.now() + expiresInSeconds * 1_000;
  for (;;) {
    if (performance.now() > endsAtMs) throw new OperatorMistake(NOT_LET_IN);
    await sleep(intervalSeconds * 1_000);
    const taken = await dataOf(ops.POST('/ops/device-logins/token', { body: { deviceCode } })).catch(
      (error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        // Too fast, or away for a moment.
        if (error.status === 429 || error.status === 0 || error.status >= 500) return undefined;
        throw error.status === 404 ? new OperatorMistake(NOT_LET_IN) : error;
      },
    );
    if (taken && 'token' in taken) return taken;
  }
}
