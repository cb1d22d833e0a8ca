/** Actions on a test eSIM, one path each. The live environment does not have them; live keys are refused. */
import type { z } from 'zod';
import { namedObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, countField } from '../../platform/http/fields.ts';
import { MAX_SANDBOX_ADVANCE_SECONDS, MAX_SANDBOX_USE_BYTES } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import { INSTALL_STAGES, PLAIN_SANDBOX_ACTIONS, type SandboxAction } from '../sandbox-port.ts';
import type { EsimCases } from '../use-cases.ts';
import { esimSchema, presentEsim } from './esims.ts';
import { esimId } from './shared.ts';

const routes = merchantRoutes<EsimCases>('Sandbox', { esimId });

const installBody = namedObject('SandboxInstallRequest', {
  stage: choiceField(INSTALL_STAGES, {
    description:
      'How far it gets: the profile is downloaded, installed, switched on, connected to a network; default: CONNECTED',
    example: 'CONNECTED',
  }).optional(),
});

const useBody = namedObject('SandboxUseRequest', {
  bytes: countField({
    min: 1,
    max: MAX_SANDBOX_USE_BYTES,
    description: 'Bytes to use in addition; capped at what is left',
    example: 644_245_095,
  }),
});

const clockBody = namedObject('SandboxClockRequest', {
  advanceSeconds: countField({
    min: 1,
    max: MAX_SANDBOX_ADVANCE_SECONDS,
    description: 'How much older the eSIM becomes; a clock never goes back',
    example: 432_000,
  }),
});

type Words = Omit<NonNullable<Route['docs']>, 'tag'>;

const PLAIN_WORDS: Readonly<Record<(typeof PLAIN_SANDBOX_ACTIONS)[number], Words>> = {
  'use-up': {
    operationId: 'sandboxUseUpEsim',
    summary: 'Use all data of a test eSIM',
    description: 'As `use`, with all that is left.',
  },
  expire: {
    operationId: 'sandboxExpireEsim',
    summary: 'Let a test eSIM expire',
    description:
      'Moves its clock to the end of its validity, or of the time in which it had to be installed.',
  },
  suspend: {
    operationId: 'sandboxSuspendEsim',
    summary: 'Suspend a test eSIM',
    description: 'The supplier pauses its service: `esimStatus` SUSPENDED.',
  },
  resume: {
    operationId: 'sandboxResumeEsim',
    summary: 'Resume a suspended test eSIM',
    description: 'Resumes service. The validity kept running meanwhile.',
  },
  'switch-off': {
    operationId: 'sandboxSwitchOffEsim',
    summary: 'Switch a test eSIM off on the phone',
    description: 'The traveller switches the profile off: `smdpStatus` DISABLED.',
  },
  'switch-on': {
    operationId: 'sandboxSwitchOnEsim',
    summary: 'Switch a test eSIM on again',
    description: 'The traveller switches the profile on again: `smdpStatus` ENABLED.',
  },
  'delete-profile': {
    operationId: 'sandboxDeleteEsimProfile',
    summary: 'Delete the profile of a test eSIM from the phone',
    description: 'The traveller deletes the profile: `smdpStatus` DELETED. It cannot be installed again.',
  },
};

function actionRoute<Body extends z.ZodObject | undefined>(
  name: SandboxAction['name'],
  words: Words,
  body: Body,
  actionOf: (body: Body extends z.ZodObject ? z.output<Body> : undefined) => SandboxAction,
): Route<EsimCases> {
  return routes.post(`/api/sandbox/esims/{esimId}/${name}`, {
    testKeysOnly: true,
    body,
    errors: ['NOT_YOUR_ESIM', 'SANDBOX_ACTION_REFUSED', 'NOT_FOUND'],
    answer: [200, 'The eSIM order, as it now stands', esimSchema],
    ...words,
    description: `${words.description} Test keys only. The supplier's events about it follow.`,
    async handle({ cases, principal, params, body: given, idempotency }) {
      const command = { esimId: params.esimId, action: actionOf(given), idempotency };
      return presentEsim(await cases.controlSandboxEsim(principal, command));
    },
  });
}

export const sandboxRoutes: readonly Route<EsimCases>[] = [
  actionRoute(
    'install',
    {
      operationId: 'sandboxInstallEsim',
      summary: 'Install a test eSIM',
      description:
        'The traveller installs the eSIM, all the way or to a stage at which it stops. A later stage may follow.',
    },
    installBody,
    ({ stage = 'CONNECTED' }) => ({ name: 'install', stage }),
  ),
  actionRoute(
    'use',
    {
      operationId: 'sandboxUseEsim',
      summary: 'Use data of a test eSIM',
      description: 'The traveller uses data. The profile must be switched on; the first use connects it.',
    },
    useBody,
    ({ bytes }) => ({ name: 'use', bytes }),
  ),
  ...PLAIN_SANDBOX_ACTIONS.map((name) => actionRoute(name, PLAIN_WORDS[name], undefined, () => ({ name }))),
  actionRoute(
    'clock',
    {
      operationId: 'sandboxAdvanceEsimClock',
      summary: 'Move the time of a test eSIM',
      description:
        'Makes one eSIM older: `activateTime` and `expiredTime` move into the past by as much, since everything else keeps its time.',
    },
    clockBody,
    ({ advanceSeconds }) => ({ name: 'clock', advanceMs: advanceSeconds * 1000 }),
  ),
];
